import { shownAtMost } from "@xdskit/server";

/** A rollout as JSON. */
export interface RolloutJson {
  readonly id: number;
  readonly group: string;
  readonly state: string;
  readonly since: string;
  readonly nodes: NodeCounts;
  readonly waitsFor: readonly string[];
  readonly rejections: readonly { readonly node: string; readonly at: string }[];
}

type NodeCounts = Readonly<Record<"reached" | "pending" | "rejected" | "held", number>>;

interface QuarantineJson {
  readonly group: string;
  readonly type: string;
  readonly name: string;
  readonly version?: string | undefined;
}

/** The rollouts and quarantines of one server. */
export interface RolloutsJson {
  readonly rollouts: readonly RolloutJson[];
  readonly quarantines: readonly QuarantineJson[];
}

/**
 * One rollout for each group, from the answers of all servers: the first one with the newest rollout gives its state,
 * and all of them give the nodes. A node with streams at two servers counts twice.
 */
export function mergedRollouts(said: readonly (readonly RolloutJson[])[]): readonly RolloutJson[] {
  const groups = new Map<string, RolloutJson[]>();
  for (const one of said.flat()) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  return Array.from(groups.values(), (all) => {
    const newest = Math.max(...all.map(({ id }) => id));
    const same = all.filter(({ id }) => id === newest);
    const [first] = same as [RolloutJson];
    if (same.length === 1) return first;
    const nodes = {
      reached: sumOf(same, "reached"),
      pending: sumOf(same, "pending"),
      rejected: sumOf(same, "rejected"),
      held: sumOf(same, "held"),
    };
    const rejections = new Map(same.flatMap((each) => each.rejections).map((each) => [each.node, each]));
    return {
      ...first,
      nodes,
      waitsFor: [...new Set(same.flatMap(({ waitsFor }) => waitsFor))].slice(0, shownAtMost),
      rejections: [...rejections.values()].slice(0, shownAtMost),
    };
  });
}

/** Each content once, however many servers keep it from nodes. */
export function mergedQuarantines(said: readonly (readonly QuarantineJson[])[]): readonly QuarantineJson[] {
  const all = new Map<string, QuarantineJson>();
  for (const each of said.flat()) {
    const { group, type, name, version } = each;
    const id = JSON.stringify([group, type, name, version]);
    if (!all.has(id)) all.set(id, each);
  }
  return [...all.values()];
}

function sumOf(rollouts: readonly RolloutJson[], count: keyof NodeCounts): number {
  return rollouts.reduce((sum, { nodes }) => sum + nodes[count], 0);
}
