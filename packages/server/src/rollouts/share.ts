import { createHash } from "node:crypto";
import type { Node } from "@xdskit/protocol";
import { matcherOf } from "../settings/node-match.js";
import type { RolloutStep } from "../settings/rollout-settings.js";

/** Which nodes a step of a rollout reaches. */
export interface Share {
  /** Whether a node belongs to it. A step by count takes a new node while it has room, if the node acknowledges. */
  has(node: Node, acknowledges: boolean): boolean;
}

/** A number from 0 up to 1 that is the same for a node id on every server and after every restart. */
export function positionOf(nodeId: string): number {
  return createHash("sha256").update(nodeId).digest().readUIntBE(0, 6) / 2 ** 48;
}

/**
 * Makes the share of a step from the ids of the nodes that are there when it begins. By percent it takes the positions
 * below that, and at least one node, since a change that no node tries proves nothing; by count it takes the lowest
 * positions, and later nodes while there are too few.
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
