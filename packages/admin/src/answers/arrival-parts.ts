import type { NodeArrival } from "@xdskit/server";
import type { ArrivalJson } from "../contract/answers.js";
import { maxInList } from "../contract/limits.js";

/** By id, the state of the nodes with streams to one server. */
export type EachOfServer = Readonly<Record<string, NodeArrival>>;

/** How far the nodes with streams to one server are with a revision. */
export interface ArrivalPart {
  /** False: the server does not serve the revision yet. */
  readonly isServed: boolean;
  /** True: the revision is older than the server's run, so nodes of the run before may not have come back yet. */
  readonly isFromBefore: boolean;
  /** By id: one node may have streams to several servers. */
  readonly each: EachOfServer;
  readonly nodes: ArrivalJson["nodes"];
}

/** The part of one server, or the reason why it did not answer. */
export type PartOfServer = { readonly replica: string } & (
  | { readonly part: ArrivalPart }
  | { readonly silent: string }
);

/** Of several states of a node, the one furthest from the end counts. */
const ranks: Readonly<Record<NodeArrival, number>> = { acknowledged: 0, "held-back": 1, pending: 2, rejected: 3 };

const notBackYet = "it started after the change, and no node that the change concerns has a stream to it yet";

/** Counts nodes by state: one with streams to several servers is one node. */
export function countsOfNodes(servers: readonly EachOfServer[]): Record<NodeArrival, number> {
  const each = new Map<string, NodeArrival>();
  for (const own of servers)
    for (const [id, state] of Object.entries(own)) {
      const known = each.get(id);
      if (known === undefined || ranks[state] > ranks[known]) each.set(id, state);
    }
  const counts = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
  for (const state of each.values()) counts[state] += 1;
  return counts;
}

/** The arrival of a revision, from the parts of all servers. */
export function arrivalOfParts(servers: readonly PartOfServer[]): Omit<ArrivalJson, "revision"> {
  const each: EachOfServer[] = [];
  const nodes = new Map<string, ArrivalJson["nodes"][number]>();
  const uncounted: ArrivalJson["uncounted"] = [];
  for (const one of servers) {
    const { replica } = one;
    if ("silent" in one) {
      uncounted.push({ replica, reason: one.silent });
      continue;
    }
    const { part } = one;
    if (!part.isServed) uncounted.push({ replica, reason: "it does not serve the revision yet" });
    each.push(part.each);
    for (const node of part.nodes) if (nodes.get(node.id)?.state !== "rejected") nodes.set(node.id, node);
  }
  const isNobody = each.every((own) => Object.keys(own).length === 0);
  for (const one of isNobody ? servers : []) {
    const { isServed = false, isFromBefore = false } = "part" in one ? one.part : {};
    if (isServed && isFromBefore) uncounted.push({ replica: one.replica, reason: notBackYet });
  }
  return { counts: countsOfNodes(each), nodes: [...nodes.values()].slice(0, maxInList), uncounted };
}
