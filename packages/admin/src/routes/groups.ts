import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { type Resource, typeNameIn } from "@xdskit/api";
import { hasNamed } from "@xdskit/protocol";
import { type ApiContext, quoted } from "../context/api-context.js";
import { graphSchema, groupContentSchema, groupResourcesSchema, groupSortSchema } from "../contract/group-schemas.js";
import { unknownGroup } from "../contract/known-values.js";
import { maxInList } from "../contract/limits.js";
import { ApiProblem } from "../contract/problem.js";
import { graphOf } from "../usage/graph.js";
import { type GroupContext, groupRow, groupRows } from "../usage/group-rows.js";
import { answerInTurns, flag, json, limit, offset, problems, readRoute } from "./definition.js";

const listGroups = readRoute({
  path: "/api/v1/groups",
  summary: "Lists the groups of nodes",
  responses: {
    200: json(
      z.object({ groups: z.array(z.object({ name: z.string(), streams: z.int(), resources: z.int() })) }),
      "The groups",
    ),
  },
});

const groupParam = z.object({ group: z.string() });

const list = readRoute({
  path: "/api/v1/groups/{group}/resources",
  summary: "Lists what a group is served, all layers together",
  request: {
    params: groupParam,
    query: z.strictObject({
      type: z.string().optional().openapi({ description: "`cluster`, `cds` …, or a type URL" }),
      q: z.string().max(200).optional().openapi({ description: "A part of the name" }),
      contents: flag.optional().openapi({ description: "`q` may be a part of the content, too" }),
      only: z.enum(["dangling", "unused"]).optional(),
      sort: groupSortSchema.default("type"),
      order: z.enum(["asc", "desc"]).default("asc"),
      limit: limit(200, 2_000),
      offset,
    }),
  },
  responses: { 200: json(groupResourcesSchema, "A page of resources"), ...problems(400, 404) },
});

const get = readRoute({
  path: "/api/v1/groups/{group}/resources/{type}/{name}",
  summary: "Shows what a group is served under a name, what it uses and what uses it",
  request: { params: groupParam.extend({ type: z.string(), name: z.string() }) },
  responses: { 200: json(groupContentSchema, "The resource"), ...problems(404) },
});

const graph = readRoute({
  path: "/api/v1/groups/{group}/graph",
  summary: "Shows who uses what: listener → route → virtual host → cluster → endpoints",
  request: {
    params: groupParam,
    query: z
      .strictObject({
        type: z.string().optional().openapi({ description: "With `name`: from this resource" }),
        name: z.string().optional().openapi({ description: "Without a resource: from all listeners" }),
      })
      .refine(({ type, name }) => (type === undefined) === (name === undefined), {
        message: "type and name select a resource together: expected both, or none",
      }),
  },
  responses: { 200: json(graphSchema, "At most 300 resources"), ...problems(400, 404) },
});

/** The routes that show the resources of groups. */
export function groupRoutes(app: OpenAPIHono, context: ApiContext): void {
  const { server } = context.options;
  app.openapi(listGroups, (c) => {
    const groups = server.stats().groups.map(({ name, streams }) => {
      const sets = [...(server.snapshotOf(name)?.sets.values() ?? [])];
      return { name, streams, resources: sets.reduce((sum, { size }) => sum + size, 0) };
    });
    return c.json({ groups }, 200);
  });
  app.openapi(list, async (c) => {
    const { type, contents = false, order, ...query } = c.req.valid("query");
    const of = contextOf(context, c.req.valid("param").group);
    const named = context.typeFilter(type)?.name;
    return answerInTurns(c, await groupRows(of, { ...query, contents, type: named, descending: order === "desc" }));
  });
  app.openapi(get, async (c) => {
    const { group, type: typeName, name } = c.req.valid("param");
    const of = contextOf(context, group);
    const type = context.type(typeName);
    const resource = of.snapshot.of(type).named(name)[0];
    if (resource === undefined) {
      const message = `group ${quoted(group)} has no ${type.name} ${quoted(name)}`;
      throw ApiProblem.of(404, "XDSKIT_RESOURCE_ABSENT", message);
    }
    await of.show.prepare([resource]);
    const content = {
      ...groupRow(of, resource),
      resource: context.showProto(resource) as z.output<typeof groupContentSchema>["resource"],
      usesNames: resource.references.map((one) => {
        return { type: typeNameIn(server.types, one.type), name: one.name, isThere: hasNamed(of.snapshot, one) };
      }),
      usedByNames: of.names
        .users({ type: type.typeUrl, name })
        .slice(0, maxInList)
        .map((one) => ({ type: one.type.name, name: one.name })),
    };
    return c.json(content, 200);
  });
  app.openapi(graph, async (c) => {
    const { type, name } = c.req.valid("query");
    const of = contextOf(context, c.req.valid("param").group);
    const typeUrl = context.typeFilter(type)?.typeUrl;
    const root = typeUrl === undefined || name === undefined ? undefined : { type: typeUrl, name };
    for (const set of of.snapshot.sets.values()) await of.show.prepare(set);
    return c.json(graphOf(of, root), 200);
  });
}

/** Throws a problem if there is no such group, or nothing is known of it yet. */
function contextOf({ options, showProto }: ApiContext, group: string): GroupContext {
  const { server, layers, whereIs } = options;
  const [snapshot, names] = [server.snapshotOf(group), server.danglingNames(group)];
  if (snapshot === undefined || names === undefined) {
    const known = server.stats().groups.map(({ name }) => name);
    throw unknownGroup(group, known);
  }
  const highestFirst = layers.toReversed();
  const layerOf = ({ type, key, version }: Resource) =>
    highestFirst.find(({ layer }) => server.layerSnapshot(layer)?.of(type).get(key)?.version === version)?.name ?? null;
  const whereOf = ({ type, key }: Resource) => {
    const where = whereIs?.(group, { type: type.typeUrl, key });
    return where?.file === undefined ? null : { file: where.file, line: where.line, column: where.column };
  };
  return { snapshot, names, types: server.types, show: showProto, layerOf, whereOf };
}
