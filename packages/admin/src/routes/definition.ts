import { createRoute as createHonoRoute, type RouteConfig, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { jsonInTurns } from "../answers/json-in-turns.js";
import type { Need } from "../contract/access.js";
import type { PostSchemas, ReadSchemas } from "../contract/answers-by-path.js";
import { maxNames, maxPage, usualPage } from "../contract/limits.js";
import { problemSchema } from "../contract/schemas.js";
import { bodyTypes } from "../requests/body-form.js";

/** A route, with what its caller must be allowed to do. */
export type NeedyRoute = RouteConfig & { readonly "x-needs": Need };

/** What a route must answer with 200, if its path is in the table of the answers that clients are typed by. */
type AnswersAsTyped<Schemas, Path> = Path extends keyof Schemas
  ? {
      readonly responses: {
        readonly 200: { readonly content: { readonly "application/json": { readonly schema: Schemas[Path] } } };
      };
    }
  : unknown;

/** Defines a route. What it needs stands in the OpenAPI document, too. */
export function createRoute<Path extends string, Route extends Omit<NeedyRoute, "path"> & { path: Path }>(
  route: Route & { readonly "x-needs": Need },
) {
  const responses = route["x-needs"] === "write" ? { ...problems(429), ...route.responses } : route.responses;
  return createHonoRoute<Path, Route>(answering({ ...route, responses }));
}

/** Defines a route that only reads. */
export function readRoute<
  Path extends string,
  Route extends Omit<NeedyRoute, "path" | "method" | "x-needs"> & { path: Path },
>(route: Route & AnswersAsTyped<ReadSchemas, Path>) {
  const reads = { method: "get", "x-needs": "read" } as const;
  return createRoute<Path, Route & typeof reads>({ ...reads, ...route });
}

/** Defines a route that is posted to. */
export function postRoute<Path extends string, Route extends Omit<NeedyRoute, "path" | "method"> & { path: Path }>(
  route: Route & { readonly "x-needs": Need } & AnswersAsTyped<PostSchemas, Path>,
) {
  return createRoute<Path, Route & { readonly method: "post" }>({ method: "post", ...route });
}

/** A route with the answers that each has to those who may not call it, or with a parameter that it does not have. */
function answering<Route extends Pick<RouteConfig, "responses">>(route: Route): Route {
  return { ...route, responses: { ...problems(400, 401, 403), ...route.responses } };
}

/** The answers that a route may give instead of its own. */
export function problems(
  ...statuses: readonly (400 | 401 | 403 | 404 | 408 | 409 | 412 | 413 | 415 | 422 | 429 | 503)[]
) {
  const content = { "application/problem+json": { schema: problemSchema } };
  return Object.fromEntries(statuses.map((status) => [status, { description: descriptions[status], content }]));
}

const descriptions = {
  400: "The request cannot be understood",
  401: "The server has roles, and the request shows nobody whom it knows",
  403: "The caller may not do this, or is a page of another origin, or uses a foreign name of this host",
  404: "There is no such thing",
  408: "The body comes too slowly",
  409: "It does not fit the state of the server",
  412: "The layer or resource is another one by now; nothing was changed",
  413: "The body is too large",
  415: "The body has a type that is not read",
  422: "The change is refused; `findings` say why, and nothing was changed",
  429: "Too many of these",
  503: "It cannot be kept, or the server has too much to do; nothing was changed",
} as const;

/** An answer in JSON. */
export function json<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** A body in several forms, which the route reads itself: the schema only describes it. */
export function body(reference: string, description: string) {
  const schema = { $ref: `#/components/schemas/${reference}` };
  const [asJson, asYaml, binary] = bodyTypes;
  return {
    required: true,
    content: {
      [asJson]: { schema },
      [asYaml]: { schema },
      [binary]: { schema: { type: "string" as const, format: "binary", description } },
    },
  };
}

/** A small body in JSON or YAML. */
export function smallBody(reference: string) {
  const schema = { $ref: `#/components/schemas/${reference}` };
  const [asJson, asYaml] = bodyTypes;
  return { content: { [asJson]: { schema }, [asYaml]: { schema } } };
}

/** `true` or `false` in a query. */
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

/** How many items a page has. */
export function limit(usual: number, most: number) {
  return z.coerce
    .number()
    .int()
    .min(1)
    .max(most)
    .default(usual)
    .openapi({ description: `Default ${usual}` });
}

/** Where the next page begins: `next` of the page before. */
export const after = z.string().max(10_000).optional().openapi({ description: "`next` of the page before" });

/** The spelling of fields in contents. */
export const fieldNames = z.enum(["json", "proto"]).default("json").openapi({
  description:
    "How fields are called: `connectTimeout` as in JSON, which is the default, or `connect_timeout` as in protos",
});

/** The page of the changes in an answer. */
export const changesPage = {
  fields: fieldNames,
  limit: limit(usualPage, maxPage),
  after,
  names: limit(usualPage, maxNames).openapi({
    description: `The most names in each list of a stage. Default ${usualPage}`,
  }),
};

/** How many items come before the page. */
export const offset = z.coerce
  .number()
  .int()
  .min(0)
  .default(0)
  .openapi({ description: "How many come before the page. Default 0" });

/** An answer that may be long: others get a turn while it is written. `space`: as of `JSON.stringify`. */
export async function answerInTurns(c: Context, value: object, space = 0): Promise<never> {
  const json = await jsonInTurns(value, space);
  return c.body(json, 200, { "content-type": "application/json" }) as never;
}
