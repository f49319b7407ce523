import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { resourceStates } from "@xdskit/server";
import { type ApiContext, quoted } from "../context/api-context.js";
import { type WithRevisions, withNewest } from "../context/node-revisions.js";
import {
  loadSchema,
  nodeContentsSchema,
  nodeResourcesSchema,
  nodeRowSchema,
  nodeSchema,
  nodeStateSchema,
  silentNodesSchema,
  timelineSchema,
} from "../contract/fleet-schemas.js";
import { mustBeKnown } from "../contract/known-values.js";
import { maxPage, usualPage } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { after, answerInTurns, json, limit, offset, problems, readRoute } from "./definition.js";

const list = readRoute({
  path: "/api/v1/nodes",
  summary: "Lists the nodes that have streams, and how far each is",
  request: {
    query: z.strictObject({
      state: nodeStateSchema.optional(),
      group: z.string().optional(),
      limit: limit(usualPage, maxPage),
      after,
    }),
  },
  responses: {
    200: json(
      z.object({ nodes: z.array(nodeSchema), next: z.string().optional(), silent: silentNodesSchema.optional() }),
      "A page of nodes by id",
    ),
    ...problems(400),
  },
});

const idParam = z.object({ id: z.string().openapi({ description: "Encoded: `/` as %2F" }) });

const get = readRoute({
  path: "/api/v1/nodes/{id}",
  summary: "Shows one node, and its resources that are not synced",
  request: {
    params: idParam,
    query: z.strictObject({
      type: z.string().optional(),
      resources: z.enum(["all"]).optional().openapi({ description: "`all`: synced resources, too" }),
    }),
  },
  responses: { 200: json(nodeSchema, "The node"), ...problems(400, 404, 503) },
});

const row = readRoute({
  path: "/api/v1/nodes/{id}/summary",
  summary: "Shows one node as it stands in lists",
  request: { params: idParam },
  responses: { 200: json(nodeRowSchema, "The node"), ...problems(404, 503) },
});

const resources = readRoute({
  path: "/api/v1/nodes/{id}/resources",
  summary: "Lists what a node is to have, and how far it is with each",
  request: {
    params: idParam,
    query: z.strictObject({
      type: z.string().optional(),
      state: z.string().optional().openapi({ description: "One state, or several with commas" }),
      q: z.string().max(200).optional().openapi({ description: "A part of the name" }),
      limit: limit(200, 2_000),
      offset,
    }),
  },
  responses: {
    200: json(nodeResourcesSchema, "A page of resources"),
    ...problems(400, 404, 503),
  },
});

const contents = readRoute({
  path: "/api/v1/nodes/{id}/resources/{type}/{name}",
  summary: "Shows what a node runs of a resource, and what it is to run",
  request: { params: idParam.extend({ type: z.string(), name: z.string() }) },
  responses: { 200: json(nodeContentsSchema, "Both"), ...problems(404, 503) },
});

const timeline = readRoute({
  path: "/api/v1/nodes/{id}/timeline",
  summary: "Tells what happened between a node and the server last",
  description: "The last 40 moments of each node with a stream, and of the last 1,000 that have gone; in memory.",
  request: { params: idParam },
  responses: {
    200: json(timelineSchema, "The moments, the newest first"),
    ...problems(404, 503),
  },
});

const loads = readRoute({
  path: "/api/v1/nodes/{id}/loads",
  summary: "Shows the last load reports of a node",
  request: { params: idParam },
  responses: { 200: json(z.object({ loads: z.array(loadSchema) }), "By cluster, at most 200"), ...problems(404, 503) },
});

/** The routes about one node, and about all of them in full. */
export function nodeRoutes(app: OpenAPIHono, context: ApiContext, withRevisions: WithRevisions): void {
  const { fleet } = context;
  app.openapi(list, async (c) => {
    const query = c.req.valid("query");
    const { group } = query;
    if (group !== undefined) await fleet.check({ group: [group] });
    return answerInTurns(c, await fleet.nodes(query), 2);
  });
  app.openapi(get, async (c) => {
    const { id } = c.req.valid("param");
    const { resources: which, ...query } = c.req.valid("query");
    const type = context.typeFilter(query.type)?.name;
    return answerInTurns(c, (await fleet.node(id, { type, all: which === "all" })) ?? unknown(id), 2);
  });
  app.openapi(row, async (c) => {
    const { id } = c.req.valid("param");
    const found = (await fleet.row(id)) ?? unknown(id);
    const [row = found] = await withRevisions([found]);
    return c.json(row, 200);
  });
  app.openapi(resources, async (c) => {
    const { id } = c.req.valid("param");
    const { state, type, ...query } = c.req.valid("query");
    const states = state?.split(",");
    mustBeKnown("state", states, resourceStates);
    const asked = { ...query, type: context.typeFilter(type)?.name, state: states };
    return answerInTurns(c, (await fleet.resources(id, asked)) ?? unknown(id));
  });
  app.openapi(contents, async (c) => {
    const { id, type, name } = c.req.valid("param");
    const found = await fleet.contents(id, type, name);
    if (found !== undefined) return c.json(found, 200);
    const message = `node ${quoted(id)} knows nothing of ${type} ${quoted(name)}`;
    throw ApiProblem.of(404, "XDSKIT_RESOURCE_ABSENT", message);
  });
  app.openapi(timeline, async (c) => {
    const { id } = c.req.valid("param");
    const found = (await fleet.timeline(id)) ?? unknown(id);
    const row = await fleet.row(id);
    const [reported] = row === undefined ? [] : await withRevisions([row]);
    return c.json(withNewest(found, reported), 200);
  });
  app.openapi(loads, async (c) => {
    const { id } = c.req.valid("param");
    const found = await fleet.loads(id);
    // A node that only reports loads has no row.
    if (found.length === 0 && (await fleet.row(id)) === undefined) unknown(id);
    return c.json({ loads: [...found] }, 200);
  });
}

function unknown(id: string): never {
  throw ApiProblem.of(404, "XDSKIT_NODE_UNKNOWN", `there is no node ${quoted(id)}`);
}
