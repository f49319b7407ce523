import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { Resource } from "@xdskit/api";
import type { CommitInfo } from "@xdskit/server";
import type { ApiContext } from "../context/api-context.js";
import { changeLayer } from "../context/change-layer.js";
import type { ChangesPage } from "../context/outlook.js";
import type { ApiLayer } from "../contract/admin-options.js";
import { ApiProblem } from "../contract/problem.js";
import { changeAnswerSchema, changeSchema } from "../contract/schemas.js";
import { bodyForm } from "../requests/body-form.js";
import { type ExpectedTag, expectedTag } from "../requests/conditions.js";
import { leaseOf } from "../requests/lease.js";
import { readChange, readOne } from "../requests/read-change.js";
import { answerInTurns, body, changesPage, createRoute, flag, json, postRoute, problems } from "./definition.js";
import { noResource, onlyResource, resourceParams, shownName, type TypeAndName } from "./layers.js";

const ifMatch = z.string().optional().openapi({ description: "The revision that the layer must have, in quotes" });

const lease = z.string().max(100).optional().openapi({
  description: "A time such as `30s` (1s to 24h) for a new lease that holds what is put in, or the id of a lease",
});

const change = postRoute({
  "x-needs": "write",
  path: "/api/v1/layers/{layer}/changes",
  summary: "Changes many resources of a layer, all of them or none",
  description:
    "The change is durable and served when the answer comes. A protobuf body is a DiscoveryResponse whose resources are put in; the query says the rest then.",
  request: {
    params: z.object({ layer: z.string() }),
    headers: z.object({ "if-match": ifMatch }),
    query: z.strictObject({
      message: z.string().max(10_000).optional(),
      author: z.string().max(1_000).optional(),
      dryRun: flag.optional(),
      replace: flag.optional(),
      lease,
      ...changesPage,
    }),
    body: body("Change", "A serialized envoy.service.discovery.v3.DiscoveryResponse"),
  },
  responses: {
    200: json(changeAnswerSchema, "The layer after the change, and what it changed"),
    ...problems(400, 404, 408, 409, 412, 413, 415, 422, 503),
  },
});

const resourceQuery = z.strictObject({
  message: z.string().max(10_000).optional(),
  author: z.string().max(1_000).optional(),
  dryRun: flag.optional(),
});

const ifVersion = z.string().optional().openapi({ description: "The version that the resource must have, in quotes" });

const put = createRoute({
  method: "put",
  "x-needs": "write",
  path: "/api/v1/layers/{layer}/resources/{type}/{name}",
  summary: "Adds or replaces one resource",
  request: {
    params: resourceParams,
    headers: z.object({
      "if-match": ifVersion,
      "if-none-match": z.string().optional().openapi({ description: "`*`: the resource must not be there" }),
    }),
    query: resourceQuery.extend({ lease }),
    body: body("Resource", "A serialized envoy.service.discovery.v3.DiscoveryResponse with one resource"),
  },
  responses: {
    200: json(changeAnswerSchema, "The layer after the change"),
    ...problems(400, 404, 408, 409, 412, 413, 415, 422, 503),
  },
});

const remove = createRoute({
  method: "delete",
  "x-needs": "write",
  path: "/api/v1/layers/{layer}/resources/{type}/{name}",
  summary: "Removes one resource",
  request: { params: resourceParams, headers: z.object({ "if-match": ifVersion }), query: resourceQuery },
  responses: {
    200: json(changeAnswerSchema, "The layer after the change"),
    ...problems(400, 404, 409, 412, 422, 503),
  },
});

/** The routes that change layers. */
export function changeRoutes(app: OpenAPIHono, context: ApiContext): void {
  const { reading } = context;
  const { server } = context.options;
  app.openAPIRegistry.register("Change", changeSchema);
  app.openAPIRegistry.register("Resource", z.looseObject({ "@type": z.string() }).openapi("Resource"));

  app.openapi(change, async (c) => {
    const layer = context.layerToWrite(c.env, c.req.valid("param").layer);
    const form = bodyForm(c.req.header("content-type") ?? null);
    const bytes = await context.bodies.read(c.req.raw);
    const { lease: wanted, limit, after, names, fields, ...query } = c.req.valid("query");
    const asked = await readChange(bytes, form, query, reading);
    const page = pageOfDryRun({ limit, after, names, fields }, asked.dryRun);
    const expected = await expectedRevision(context, layer, c.req.raw.headers);
    const info = infoOf(asked, context.senderOf(c.env, asked.author), wanted !== undefined);
    return answerInTurns(
      c,
      await changeLayer(context, layer, { ...asked, expected, info, lease: leaseOf(wanted), page }),
    );
  });

  app.openapi(put, async (c) => {
    const { layer: layerName, type: typeName, name } = c.req.valid("param");
    const layer = context.layerToWrite(c.env, layerName);
    const type = context.type(typeName);
    const form = bodyForm(c.req.header("content-type") ?? null);
    const { upsert, findings } = await readOne(await context.bodies.read(c.req.raw), form, { type, name }, reading);
    const query = c.req.valid("query");
    const asked = { upsert, remove: [], replace: false, dryRun: query.dryRun ?? false, findings };
    const tag = expectedTag(c.req.raw.headers);
    const condition = () => {
      // Variants of one name have keys of their own.
      const key = upsert[0]?.resource.key ?? name;
      mustHaveVersion(tag, { type, name }, server.layerSnapshot(layer.layer)?.of(type).get(key));
    };
    const info = infoOf(query, context.senderOf(c.env, query.author), query.lease !== undefined);
    const granted = leaseOf(query.lease);
    const how = { ...asked, expected: undefined, condition, info, lease: granted };
    return answerInTurns(c, await changeLayer(context, layer, how));
  });

  app.openapi(remove, async (c) => {
    const { layer: layerName, type: typeName, name } = c.req.valid("param");
    const layer = context.layerToWrite(c.env, layerName);
    const type = context.type(typeName);
    const query = c.req.valid("query");
    const tag = expectedTag(c.req.raw.headers);
    const condition = () => {
      const found = onlyResource(context, layer, { type, name });
      mustHaveVersion(tag, { type, name }, found);
      if (found === undefined) throw noResource(layer, { type, name });
    };
    const asked = { upsert: [], remove: [{ type, name }], replace: false, dryRun: query.dryRun ?? false, findings: [] };
    const info = infoOf(query, context.senderOf(c.env, query.author));
    return answerInTurns(c, await changeLayer(context, layer, { ...asked, expected: undefined, condition, info }));
  });
}

/** A change that is made has only a first page: to ask again would change the layer again. */
export function pageOfDryRun(page: ChangesPage, dryRun: boolean): ChangesPage {
  if (page.after === undefined || dryRun) return page;
  const message = "after: only a dry run has further pages; of a change, its revision lists all";
  throw ApiProblem.of(400, "XDSKIT_API_REQUEST", message);
}

/** The description of a commit. `isLeased`: its resources belong to a lease. */
export function infoOf(
  { message = "" }: { readonly message?: string | undefined },
  { author, address: caller }: ReturnType<ApiContext["senderOf"]>,
  isLeased = false,
): CommitInfo {
  const cause = { kind: "api", caller, ...(isLeased ? { leased: true as const } : {}) } as const;
  return { author, cause, message, time: Date.now() };
}

/** The head that a request expects. Throws a problem if it wants some head and there is none. */
export async function expectedRevision(
  context: ApiContext,
  layer: ApiLayer,
  headers: Headers,
): Promise<string | null | undefined> {
  const tag = expectedTag(headers);
  if (tag !== "any") return tag;
  // A layer with a revision keeps having one, and which it is does not matter.
  if ((await context.head(layer)) !== undefined) return undefined;
  throw ApiProblem.of(412, "XDSKIT_REVISION_CONFLICT", `layer ${JSON.stringify(layer.name)} has no revision yet`, {
    revision: null,
  });
}

function mustHaveVersion(tag: ExpectedTag, named: TypeAndName, found: Resource | undefined): void {
  if (tag === undefined) return;
  const version = found?.version;
  if (tag === "any" ? version !== undefined : (version ?? null) === tag) return;
  const is = version === undefined ? "it is not there" : `its version is ${version}`;
  const extensions = { version: version ?? null };
  throw ApiProblem.of(412, "XDSKIT_REVISION_CONFLICT", `${shownName(named)} is another one: ${is}`, extensions);
}
