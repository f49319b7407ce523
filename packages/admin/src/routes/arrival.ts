import { type OpenAPIHono, z } from "@hono/zod-openapi";
import { inTurns, oneByOne } from "@xdskit/api";
import type { ConfigArrivalStatus, NodeArrival } from "@xdskit/server";
import { type ArrivalPart, arrivalOfParts } from "../answers/arrival-parts.js";
import type { ApiContext } from "../context/api-context.js";
import { type RevisionArrival, revisionArrival } from "../context/revision-arrival.js";
import { maxInList } from "../contract/limits.js";
import { arrivalSchema } from "../contract/schemas.js";
import { keepRecent } from "../requests/recent-revisions.js";
import { json, problems, readRoute } from "./definition.js";

const arrival = readRoute({
  path: "/api/v1/revisions/{id}/arrival",
  summary: "Says how far the clients are with a revision",
  description:
    "Counted are the nodes with a stream that asks for something that the revision changed. Contents decide: a later change that replaces some of this one counts as this one. A node with streams to several servers is one node. While `uncounted` names servers, there may be more nodes.",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(arrivalSchema, "Who acknowledged, who rejected, and who is silent"), ...problems(404, 503) },
});

/** A revision, at all nodes with streams to a server or only at some: to compare each of a large fleet is dear. */
type ArrivalAsked = string | { readonly id: string; readonly nodes: readonly string[] };

/** Asks a server for its part. That of some nodes says their state, and no more. */
type AskArrival = (asked: ArrivalAsked) => Promise<ArrivalPart>;

/** The route of the arrival of a revision. Returns the part of the nodes with streams to this server. */
export function arrivalRoute(app: OpenAPIHono, context: ApiContext): AskArrival {
  const { replica } = context.options;
  const known = new Map<string, RevisionArrival>();
  const here = async (asked: ArrivalAsked): Promise<ArrivalPart> => {
    const { id, nodes: some } = typeof asked === "string" ? { id: asked } : asked;
    const found = known.get(id) ?? (await revisionArrival(context, id));
    keepRecent(known, id, found);
    const isServed = await found.isServed();
    // This look comes afterwards, so that no node counts that has not been told of the revision.
    const each = new Map<string, NodeArrival>();
    await inTurns(oneByOne(found.arrival.eachNode({ nodes: some }), ([node, state]) => void each.set(node, state)));
    const part = { isServed, isFromBefore: found.isFromBefore, each: Object.fromEntries(each) };
    if (some !== undefined) return { ...part, nodes: [] };
    const firsts = (isOf: (state: NodeArrival) => boolean) =>
      Array.from(each)
        .flatMap(([node, state]) => (isOf(state) ? [node] : []))
        .slice(0, maxInList);
    const rejected = firsts((state) => state === "rejected");
    const waiting = firsts((state) => state === "pending" || state === "held-back");
    return { ...part, nodes: named(found.arrival.status({ nodes: [...rejected, ...waiting] })) };
  };
  app.openapi(arrival, async (c) => {
    const { id } = c.req.valid("param");
    const peers = context.peers();
    const asked = [here(id), ...peers.map(async (peer) => (await peer.ask("arrival", id)) as ArrivalPart)];
    const [own, ...others] = await Promise.allSettled(asked);
    if (own?.status !== "fulfilled") throw own?.reason;
    const names = [replica ?? "this server", ...peers.map(({ name }) => name)];
    const parts = [own, ...others].map((one, index) => {
      const from = { replica: names[index] ?? "" };
      if (one.status === "fulfilled") return { ...from, part: one.value };
      return { ...from, silent: (one.reason as Error).message };
    });
    return c.json({ revision: id, ...arrivalOfParts(parts) }, 200);
  });
  return here;
}

function named({ rejections, waiting }: ConfigArrivalStatus): ArrivalPart["nodes"] {
  return [
    ...rejections.map(({ node, group, type, message }) => {
      return { id: node, group, state: "rejected" as const, message: `${type}: ${message}` };
    }),
    ...waiting.map(({ node, group, type, reason, why }) => {
      const state = reason === "held-back" ? reason : ("pending" as const);
      return { id: node, group, state, message: `${type}: ${why}` };
    }),
  ];
}
