import { shownAtMost } from "@xdskit/server";
import type { QuarantineJson, RolloutJson } from "../contract/answers.js";

/** The rollouts and quarantines of one server. */
export interface RolloutsJson {
  readonly rollouts: readonly RolloutJson[];
  readonly quarantines: readonly QuarantineJson[];
}

/**
 * One rollout for each group, from the answers of all servers: the first one with the newest rollout gives its state,
 * unless another one knows already that it is decided, and all of them give the nodes. A node with streams at two
 * servers counts twice.
 */
export function mergedRollouts(reported: readonly (readonly RolloutJson[])[]): readonly RolloutJson[] {
  const groups = new Map<string, RolloutJson[]>();
  for (const one of reported.flat()) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return Array.from(groups.values(), (all) => {
    const newest = Math.max(...all.map(({ id }) => id));
    const same = all.filter(({ id }) => id === newest);
    const [first] = same as [RolloutJson];
    if (same.length === 1) return first;
    const reported = same.find(({ state }) => state === "completed" || state === "rolled-back") ?? first;
    // A server that has not heard of the end still counts nodes that get it now.
    const [reached, held] = [sumOf(same, "reached"), sumOf(same, "held")];
    const nodes = {
      ...(reported.state === "completed" ? { reached: reached + held, held: 0 } : { reached, held }),
      pending: sumOf(same, "pending"),
      rejected: sumOf(same, "rejected"),
    };
    const rejections = new Map(same.flatMap((each) => each.rejections).map((each) => [each.node, each]));
    return {
      ...reported,
      nodes,
      waitsFor: [...new Set(same.flatMap(({ waitsFor }) => waitsFor))].slice(0, shownAtMost),
      rejections: [...rejections.values()].slice(0, shownAtMost),
    };
  });
}

/** Each content once, however many servers keep it from nodes. */
export function mergedQuarantines(reported: readonly (readonly QuarantineJson[])[]): readonly QuarantineJson[] {
  const all = new Map<string, QuarantineJson>();
  for (const each of reported.flat()) {
    const { group, type, name, version } = each;
    const id = JSON.stringify([group, type, name, version]);
    if (!all.has(id)) all.set(id, each);
  }
  return [...all.values()];
}

function sumOf(rollouts: readonly RolloutJson[], count: keyof RolloutJson["nodes"]): number {
  return rollouts.reduce((sum, { nodes }) => sum + nodes[count], 0);
}
