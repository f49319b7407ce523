import type { QuarantineJson, RolloutJson } from "../../api/types.js";

/** What the API says of rollouts. */
export interface RolloutPage {
  readonly rollouts: readonly RolloutJson[];
  readonly quarantines: readonly QuarantineJson[];
}

/** Whether it still goes on, or waits for somebody. */
export function isUnderWay({ state }: RolloutJson): boolean {
  return ["waiting", "soaking", "halted"].includes(state);
}

/** Whether somebody should look at it. */
export function isInTrouble(rollout: RolloutJson): boolean {
  return isUnderWay(rollout) && (rollout.state === "halted" || rollout.nodes.rejected > 0);
}

/** How many of the nodes that it reached have acknowledged it. */
export function acknowledgedOf({ reached, pending, rejected }: RolloutJson["nodes"]): number {
  return Math.max(0, reached - pending - rejected);
}

/** A step as the settings have it: `{ count: 10 }`, `{ percent: 50 }`, `{ match: … }`. */
export function stepName(step: Readonly<Record<string, unknown>>): string {
  const { count, percent, match } = step;
  if (typeof count === "number") return count === 1 ? "1 node" : `${count} nodes`;
  if (typeof percent === "number") return `${percent} %`;
  return Object.entries((match ?? {}) as Record<string, unknown>)
    .map(([field, wanted]) => `${field}: ${String(wanted)}`)
    .join(", ");
}

/** The rejections of a rollout, by the client's words. */
export function byWords(rejections: RolloutJson["rejections"]): ReadonlyMap<string, readonly string[]> {
  const nodes = new Map<string, readonly string[]>();
  for (const { node, type, message } of rejections) {
    const words = `${type}: ${message}`;
    nodes.set(words, [...(nodes.get(words) ?? []), node]);
  }
  return nodes;
}
