import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { type ResourceType, redactErrorText } from "@xdskit/api";
import { type ConfigArrival, type ConfigArrivalStatus, decodeStored } from "@xdskit/server";
import type { ApiContext } from "../context/api-context.js";
import { arrivalSchema } from "../contract/schemas.js";
import { json, problems } from "./definition.js";

const arrival = createRoute({
  method: "get",
  path: "/api/v1/revisions/{id}/arrival",
  summary: "Says how far the clients are with a revision",
  description:
    "Counted are the nodes with a stream that asks for something that the revision changed. Contents decide: a later change that replaces some of this one counts as this one.",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(arrivalSchema, "Who acknowledged, who rejected, and who is silent"), ...problems(404, 503) },
});

/** Who waits for a revision asks for it again and again. */
const mostKept = 16;

/** The route that says how far a revision has come. */
export function arrivalRoute(app: OpenAPIHono, context: ApiContext): void {
  const { server } = context.options;
  const known = new Map<string, ConfigArrival>();
  app.openapi(arrival, async (c) => {
    const { id } = c.req.valid("param");
    const found = known.get(id) ?? (await arrivalOf(context, id));
    known.delete(id);
    known.set(id, found);
    for (const oldest of known.keys()) {
      if (known.size <= mostKept) break;
      known.delete(oldest);
    }
    return c.json(
      arrivalJson(id, found.status(), (node) => server.node(node)?.group ?? ""),
      200,
    );
  });
}

async function arrivalOf(context: ApiContext, id: string): Promise<ConfigArrival> {
  const { server, registry } = context.options;
  const { revision, store } = await context.revision(id);
  const reading = { registry, types: server.types };
  const upserted = [];
  const removed: { type: ResourceType; name: string }[] = [];
  for (const { type, key, to } of await store.changes(id)) {
    const found = server.types.byTypeUrl(type);
    if (found === undefined) continue;
    const bytes = to === undefined ? undefined : await store.content(type, key, to);
    if (to === undefined) removed.push({ type: found.type, name: key });
    else if (bytes !== undefined) upserted.push(decodeStored({ type, key, version: to, bytes }, reading));
  }
  return server.contentArrival({ layer: revision.layer, upserted, removed });
}

function arrivalJson(
  revision: string,
  { acknowledged, rejected, pending, rejections, waiting }: ConfigArrivalStatus,
  groupOf: (node: string) => string,
): z.output<typeof arrivalSchema> {
  const nodes = [
    ...rejections.map(({ node, type, message }) => {
      return {
        id: node,
        group: groupOf(node),
        state: "rejected" as const,
        message: `${type}: ${redactErrorText(message)}`,
      };
    }),
    ...waiting.map(({ node, type, reason }) => {
      return { id: node, group: groupOf(node), state: "pending" as const, message: `${type}: ${reason}` };
    }),
  ];
  return { revision, counts: { acknowledged, rejected, pending }, nodes };
}
