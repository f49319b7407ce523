import type { Resource } from "@xdskit/api";
import { emptySnapshot, type Plan, planBetween, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import type { ServedGroup } from "../checking/dangling-references.js";

/** The plan of a group. */
export type GroupPlan =
  | { readonly kind: "planned"; readonly name: string; readonly plan: Plan }
  /** Only one of the folders has the group, so no client moves from one to the other. */
  | { readonly kind: "new" | "gone"; readonly name: string; readonly snapshot: Snapshot };

/** A plan for each group: first the groups of the new folder in their order, then those that are gone. */
export function planGroups(before: readonly ServedGroup[], after: readonly ServedGroup[]): readonly GroupPlan[] {
  const olds = new Map(before.map(({ group, resources }) => [group, snapshotOf(resources)]));
  const plans = after.map(({ group: name, resources }): GroupPlan => {
    const old = olds.get(name);
    if (old === undefined) return { kind: "new", name, snapshot: snapshotOf(resources) };
    return { kind: "planned", name, plan: planBetween(old, replacedGroups(old, resources)) };
  });
  const stay = new Set(after.map(({ group }) => group));
  const gone = [...olds].filter(([name]) => !stay.has(name));
  return [...plans, ...gone.map(([name, snapshot]): GroupPlan => ({ kind: "gone", name, snapshot }))];
}

function snapshotOf(resources: readonly Resource[]): Snapshot {
  return updateSnapshot(emptySnapshot(), { upsert: resources });
}

/** Derived from the old snapshot, so that the plan costs only the differences. */
function replacedGroups(old: Snapshot, upsert: readonly Resource[]): Snapshot {
  const remove = [...old.sets.values()].flatMap((set) => Array.from(set, ({ type, key }) => ({ type, name: key })));
  return updateSnapshot(old, { upsert, remove });
}
