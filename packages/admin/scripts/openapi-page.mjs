// Writes docs/openapi.md from the OpenAPI document of the API: npm run docs -w @xdskit/admin
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRegistry } from "@xdskit/api";
import { createServer } from "@xdskit/server";
import { createApp } from "../src/create-admin-api.ts";

/** Where the page is. */
export const openApiPageFile = new URL("../../../docs/openapi.md", import.meta.url);

/** The page as it should be. */
export async function openApiPage() {
  const server = createServer();
  const { app, close } = createApp({ server, registry: createRegistry(), layers: [], version: "0" });
  try {
    const document = await (await app.request("/api/v1/openapi.json")).json();
    return pageOf(document);
  } finally {
    close();
    await server.close();
  }
}

function pageOf({ paths, components: { schemas } }) {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => routeText(`${method.toUpperCase()} ${path}`, route)),
  );
  const named = Object.entries(schemas).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const answers = named.flatMap(([name, schema]) => schemaText(name, schema));
  return `<!-- Made by \`npm run docs -w @xdskit/admin\` from the OpenAPI document: change the routes. -->

# Every request of the API

What \`GET /api/v1/openapi.json\` says of a server; [the API](api.md) says what it means. \`?\` marks what may be missing.

${routes.join("\n")}
## What is asked and answered

${answers.join("\n")}`;
}

function routeText(name, { summary, description, parameters = [], requestBody, responses, ...rest }) {
  const needs = rest["x-needs"];
  const lines = parameters.map(({ name, in: place, required, schema, description: about }) => {
    const sort = typeText(schema);
    const said = (about ?? "").replace(/\.? ?Default \d+$/, "");
    const usual = schema.default === undefined ? "" : `, default \`${schema.default}\``;
    return `- \`${name}\`${required ? "" : "?"} (${place}): ${sort}${usual}${said === "" ? "" : `. ${said}`}`;
  });
  const bodies = Object.entries(requestBody?.content ?? {});
  if (bodies.length > 0)
    lines.push(`- body: ${bodies.map(([type, { schema }]) => `\`${type}\` ${typeText(schema)}`.trim()).join(", ")}`);
  const all = Object.entries(responses);
  const good = all.filter(([status]) => status < "400");
  const given = good.map(([status, { description: about, content = {} }]) => {
    const [of] = Object.values(content);
    const type = of?.schema === undefined ? "" : `: ${typeText(of.schema)}`;
    return `- ${status}${type}. ${about}`;
  });
  const bad = all.flatMap(([status]) => (status < "400" ? [] : [status]));
  if (bad.length > 0) given.push(`- [errors](api.md#problems): ${bad.join(", ")}`);
  const about = description === undefined ? "" : ` ${description}`;
  const role = needs === undefined || needs === "nothing" ? "" : ` Needs \`${needs}\`.`;
  return `### ${name}\n\n${summary}.${about}${role}\n\n${[...lines, ...given].join("\n")}\n`;
}

/** A type in few words; what has a name leads to it. */
function typeText(schema) {
  if (schema === undefined) return "";
  const { $ref, type, items, properties, allOf, anyOf, oneOf, additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(" ");
  const several = allOf ?? anyOf ?? oneOf;
  if (several !== undefined) return several.map(typeText).join(allOf === undefined ? " or " : " and ");
  if (items !== undefined) return `list of ${typeText(items)}`;
  if (properties !== undefined && Object.keys(properties).length > 0)
    return `{ ${Object.entries(properties)
      .map(([name, of]) => `\`${name}\`: ${typeText(of)}`)
      .join(", ")} }`;
  if (typeof additionalProperties === "object") return `object of ${typeText(additionalProperties)}`;
  return [type].flat().filter(Boolean).join(" or ") || "anything";
}

function schemaText(name, schema) {
  const about = schema.description === undefined ? "" : `${schema.description}.\n\n`;
  const { properties, required = [] } = schema;
  if (properties === undefined) return [`### ${name}\n\n${about}${typeText(schema)}\n`];
  const lines = Object.entries(properties).map(([field, of]) => {
    const said = of.description ?? "";
    const shown = of.example === undefined ? "" : `, such as \`${JSON.stringify(of.example)}\``;
    return `- \`${field}\`${required.includes(field) ? "" : "?"}: ${typeText(of)}${shown}${said === "" ? "" : `. ${said}`}`;
  });
  return [`### ${name}\n\n${about}${lines.join("\n")}\n`];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(openApiPageFile, await openApiPage());
