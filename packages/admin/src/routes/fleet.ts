import { type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiContext } from "../context/api-context.js";
import type { WithRevisions } from "../context/node-revisions.js";
import type { AdminApiOptions } from "../contract/admin-options.js";
import type { NodeFilter } from "../contract/fleet.js";
import {
  fleetMapSchema,
  fleetSummarySchema,
  nodeFilterSchema,
  nodeRowsSchema,
  nodeSortSchema,
} from "../contract/fleet-schemas.js";
import { problemListSchema } from "../contract/group-schemas.js";
import { problemList } from "../problems/problem-list.js";
import { answerInTurns, json, limit, offset, problems, readRoute } from "./definition.js";

const rows = readRoute({
  path: "/api/v1/fleet/nodes",
  summary: "Lists nodes in few words: search, filter, sort",
  request: {
    query: nodeFilterSchema.extend({
      sort: nodeSortSchema.default("id"),
      order: z.enum(["asc", "desc"]).default("asc").openapi({ description: "What is worst comes first with `asc`" }),
      limit: limit(100, 1_000),
      offset,
      revisions: z
        .enum(["true", "false"])
        .default("false")
        .openapi({ description: "Also the revisions that they run" }),
    }),
  },
  responses: { 200: json(nodeRowsSchema, "A page of nodes"), ...problems(400) },
});

const summary = readRoute({
  path: "/api/v1/fleet/summary",
  summary: "Counts nodes by state, type, group, client and replica",
  request: { query: nodeFilterSchema },
  responses: { 200: json(fleetSummarySchema, "The counts"), ...problems(400) },
});

const map = readRoute({
  path: "/api/v1/fleet/map",
  summary: "Shows nodes × types as a map",
  request: { query: nodeFilterSchema.extend({ columns: z.coerce.number().int().min(1).max(500).default(120) }) },
  responses: { 200: json(fleetMapSchema, "Columns of nodes beside each other"), ...problems(400) },
});

const listProblems = readRoute({
  path: "/api/v1/problems",
  summary: "Lists what is wrong, the worst first",
  responses: { 200: json(problemListSchema, "The problems") },
});

/** The routes about all nodes in few words, and about problems. */
export function fleetRoutes(app: OpenAPIHono, context: ApiContext, withRevisions: WithRevisions): void {
  const { fleet, options } = context;
  app.openapi(rows, async (c) => {
    const { sort, order, limit: most, offset: start, revisions, ...filter } = c.req.valid("query");
    const query = { ...filterOf(filter), sort, descending: order === "desc", limit: most, offset: start };
    const found = await fleet.rows(query);
    if (revisions === "false") return answerInTurns(c, found);
    return answerInTurns(c, { ...found, nodes: await withRevisions(found.nodes) });
  });
  app.openapi(summary, async (c) => c.json(await fleet.summary(filterOf(c.req.valid("query"))), 200));
  app.openapi(map, async (c) => {
    const { columns, ...filter } = c.req.valid("query");
    return c.json(await fleet.map(filterOf(filter), columns), 200);
  });
  app.openapi(listProblems, async (c) => {
    const { server, sources, troubles } = options;
    const groups = server.stats().groups.map(({ name }) => name);
    const [ofFleet, ofSources] = await Promise.all([fleet.problems(), sources?.() ?? []]);
    const found = problemList({
      ...ofFleet,
      groupsOf: (type, name) => groupsWith(server, groups, type, name),
      sources: ofSources,
      rollouts: server.rollouts(),
      quarantines: server.quarantines(),
      troubles: troubles?.() ?? [],
    });
    return c.json(found, 200);
  });
}

/** Those of the groups that are served a resource now. */
function groupsWith(
  server: AdminApiOptions["server"],
  groups: readonly string[],
  typeName: string,
  name: string,
): readonly string[] {
  const type = server.types.find(typeName);
  if (type === undefined) return [];
  return groups.filter((group) => (server.snapshotOf(group)?.of(type).named(name).length ?? 0) > 0);
}

function filterOf({ q, type, from, to, ...lists }: z.output<typeof nodeFilterSchema>): NodeFilter {
  const { state, group, client, replica } = lists;
  const values = (text: string | undefined) => text?.split(",").map(decodedComma);
  return {
    q,
    type,
    from,
    to,
    state: values(state),
    group: values(group),
    client: values(client),
    replica: values(replica),
  };
}

/** A comma inside a value is written as `%2C` once more. */
function decodedComma(text: string): string {
  return text.replaceAll("%2C", ",");
}
