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

type ArrivalJson = z.output<typeof arrivalSchema>;

/** The route that says how far a revision has come. Returns what is said of the nodes with streams to this server. */
export function arrivalRoute(app: OpenAPIHono, context: ApiContext): (id: string) => Promise<ArrivalJson> {
  const { server } = context.options;
  const known = new Map<string, ConfigArrival>();
  const here = async (id: string): Promise<ArrivalJson> => {
    const found = known.get(id) ?? (await arrivalOf(context, id));
    known.delete(id);
    known.set(id, found);
    for (const oldest of known.keys()) {
      if (known.size <= mostKept) break;
      known.delete(oldest);
    }
    return arrivalJson(id, found.status(), (node) => server.node(node)?.group ?? "");
  };
  app.openapi(arrival, async (c) => {
    const { id } = c.req.valid("param");
    const own = await here(id);
    // One that has gone, or is cut off, has no clients that count: they come back to others.
    const others = await Promise.allSettled(context.peers().map((peer) => peer.ask("arrival", id)));
    const parts = others.flatMap((one) => (one.status === "fulfilled" ? [one.value as ArrivalJson] : []));
    return c.json(parts.reduce(together, own), 200);
  });
  return here;
}

/** Of many that are not there only some are named. */
const mostNamed = 200;

function together(a: ArrivalJson, b: ArrivalJson): ArrivalJson {
  const { acknowledged, rejected, pending } = b.counts;
  return {
    revision: a.revision,
    counts: {
      acknowledged: a.counts.acknowledged + acknowledged,
      rejected: a.counts.rejected + rejected,
      pending: a.counts.pending + pending,
    },
    nodes: [...a.nodes, ...b.nodes].slice(0, mostNamed),
  };
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
): ArrivalJson {
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
