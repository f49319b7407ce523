import { createHash } from "node:crypto";
import type { Node } from "@xdskit/protocol";
import { matcherOf } from "../node-match.js";
import type { RolloutStep } from "./rollout-settings.js";

/** Which nodes a step of a rollout reaches. */
export interface Share {
  /** Whether it has a node. A step by count takes a node that comes while it has room, if it is one that acknowledges. */
  has(node: Node, acknowledges: boolean): boolean;
}

/** A number from 0 up to 1 that is the same for a node id on every server and after every restart. */
export function positionOf(nodeId: string): number {
  return createHash("sha256").update(nodeId).digest().readUIntBE(0, 6) / 2 ** 48;
}

/**
 * The share of a step, given the ids of the nodes that are there when it begins. By percent it has those whose position is below it, and at least one, since what
 * nobody tries proves nothing; by count the ones with the lowest positions, and while there are fewer, those that come.
 */
export function createShare(step: RolloutStep, nodeIds: Iterable<string>): Share {
  if ("match" in step) {
    const matches = matcherOf(step.match);
    return { has: matches };
  }
  const nodes = Array.from(nodeIds, (id) => ({ id, position: positionOf(id) })).sort((a, b) => a.position - b.position);
  if ("count" in step) {
    const chosen = new Set(nodes.slice(0, step.count).map(({ id }) => id));
    return {
      has({ id }, acknowledges) {
        if (acknowledges && chosen.size < step.count) chosen.add(id);
        return chosen.has(id);
      },
    };
  }
  const lowest = nodes[0]?.id;
  return { has: ({ id }) => id === lowest || positionOf(id) < step.percent / 100 };
}
