import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { inTurns, oneByOne, type Resource, type ResourceType } from "@xdskit/api";
import { type ApiContext, quoted } from "../context/api-context.js";
import type { ApiLayer } from "../contract/admin-options.js";
import { maxPage, usualPage } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { type layerSchema, layersSchema, resourceSchema, resourcesSchema } from "../contract/schemas.js";
import { after, answerInTurns, json, limit, problems, readRoute } from "./definition.js";

const listLayers = readRoute({
  path: "/api/v1/layers",
  summary: "Lists the layers, from the lowest to the highest",
  responses: { 200: json(layersSchema, "The layers") },
});

const layerParam = z.object({ layer: z.string().openapi({ example: "api" }) });

const listResources = readRoute({
  path: "/api/v1/layers/{layer}/resources",
  summary: "Lists what a layer holds, by type and name",
  request: {
    params: layerParam,
    query: z.strictObject({
      type: z.string().optional().openapi({ description: "`cluster`, `cds` …, or a type URL" }),
      name: z.string().optional(),
      limit: limit(usualPage, maxPage),
      after,
    }),
  },
  responses: {
    200: json(resourcesSchema, "A page of resources"),
    ...problems(400, 404),
  },
});

export const resourceParams = layerParam.extend({
  type: z.string().openapi({ description: "`cluster`, `cds` …, or a type URL (encoded)", example: "cluster" }),
  name: z.string().openapi({ description: "Encoded: `/` as %2F", example: "web" }),
});

const getResource = readRoute({
  path: "/api/v1/layers/{layer}/resources/{type}/{name}",
  summary: "Shows one resource of a layer",
  request: { params: resourceParams },
  responses: {
    200: {
      ...json(resourceSchema, "The resource"),
      headers: z.object({ etag: z.string().openapi({ description: "Its version, in quotes" }) }),
    },
    ...problems(404, 409),
  },
});

/** A resource by its name. */
export interface TypeAndName {
  readonly type: ResourceType;
  readonly name: string;
}

/** The routes that show layers and their resources. */
export function layerRoutes(app: OpenAPIHono, context: ApiContext): void {
  app.openapi(listLayers, async (c) => {
    const layers = [];
    for (const layer of context.options.layers) layers.push(await layerJson(context, layer));
    return c.json({ layers }, 200);
  });
  app.openapi(listResources, async (c) => {
    const { type, name, limit: most, after: cursor } = c.req.valid("query");
    const { layer } = context.layer(c.req.valid("param").layer);
    const wanted = context.typeFilter(type);
    const sets = [...(context.options.server.layerSnapshot(layer)?.sets.values() ?? [])]
      .filter((set) => wanted === undefined || set.type === wanted)
      .sort((a, b) => (a.type.typeUrl < b.type.typeUrl ? -1 : 1));
    const from = cursor === undefined ? undefined : cursorFrom(cursor);
    const found: Resource[] = [];
    for (const set of sets) {
      const { typeUrl } = set.type;
      if (found.length > most || (from !== undefined && typeUrl < from.type)) continue;
      const page: Resource[] = [];
      const look = oneByOne(name === undefined ? [...set] : set.named(name), (one) => {
        if (from === undefined || typeUrl > from.type || one.key > from.key) page.push(one);
      });
      await inTurns(look);
      page.sort((a, b) => (a.key < b.key ? -1 : 1));
      found.push(...page.slice(0, most + 1 - found.length));
    }
    const shown = found.slice(0, most);
    const last = shown.at(-1);
    const next = found.length > most && last !== undefined ? { next: cursorOf(last) } : {};
    await context.show.prepare(shown);
    const resources: z.output<typeof resourceSchema>[] = [];
    await inTurns(oneByOne(shown, (one) => void resources.push(resourceJson(context, one))));
    return answerInTurns(c, { resources, ...next });
  });
  app.openapi(getResource, async (c) => {
    const resource = findResource(context, c.req.valid("param"));
    await context.show.prepare([resource]);
    c.header("etag", `"${resource.version}"`);
    return c.json(resourceJson(context, resource), 200);
  });
}

/** Throws a problem if there is none. */
function findResource(
  context: ApiContext,
  { layer: layerName, type: typeName, name }: z.output<typeof resourceParams>,
): Resource {
  const layer = context.layer(layerName);
  const named = { type: context.type(typeName), name };
  const found = onlyResource(context, layer, named);
  if (found === undefined) throw noResource(layer, named);
  return found;
}

/** The resource with a name. Throws a problem if several variants have it. */
export function onlyResource(
  { options: { server } }: ApiContext,
  { layer }: ApiLayer,
  named: TypeAndName,
): Resource | undefined {
  const { type, name } = named;
  const [found, ...more] = server.layerSnapshot(layer)?.of(type).named(name) ?? [];
  if (more.length === 0) return found;
  const message = `${shownName(named)} comes in ${more.length + 1} variants: list them, or change them by POST …/changes`;
  throw ApiProblem.of(409, "XDSKIT_API_REQUEST", message);
}

/** The problem of a name that a layer does not have. */
export function noResource({ name }: ApiLayer, named: TypeAndName): ApiProblem {
  const message = `layer ${JSON.stringify(name)} has no ${shownName(named)}`;
  return ApiProblem.of(404, "XDSKIT_RESOURCE_ABSENT", message);
}

export function shownName({ type, name }: TypeAndName): string {
  return `${type.name} ${quoted(name)}`;
}

async function layerJson(context: ApiContext, layer: ApiLayer): Promise<z.output<typeof layerSchema>> {
  const { name, place, durable, filled } = layer;
  const head = await context.head(layer);
  const writable = filled.by === "api";
  return { name, writable, place, durable, head: head === undefined ? null : context.revisionJson(head) };
}

function resourceJson({ show }: ApiContext, resource: Resource): z.output<typeof resourceSchema> {
  const { type, name, key, version, variant } = resource;
  const shown = show(resource) as z.output<typeof resourceSchema>["resource"];
  return { type: type.typeUrl, name, ...(variant === undefined ? {} : { key }), version, resource: shown };
}

function cursorOf({ type, key }: Resource): string {
  return Buffer.from(JSON.stringify([type.typeUrl, key])).toString("base64url");
}

function cursorFrom(text: string): { readonly type: string; readonly key: string } {
  try {
    const [type, key] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof type === "string" && typeof key === "string") return { type, key };
  } catch {
    // Said below.
  }
  throw ApiProblem.of(400, "XDSKIT_API_REQUEST", "after: expected `next` of the page before");
}
