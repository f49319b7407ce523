import { printable } from "@xdskit/api";
import { formatPlan, type PlanOutline, type StageJson, type WaitJson, type WaitOutline } from "@xdskit/protocol";
import { everyNode } from "@xdskit/server";
import type { Paint } from "../output/colours.js";
import { colouredPlan } from "./plan-colours.js";

/** The stages in which one group gets a change. */
export interface PlannedStages {
  readonly group: string;
  readonly stages: readonly StageJson[];
  readonly waits?: readonly WaitJson[];
  /** The steps in which it goes through the nodes; undefined: to all at once. */
  readonly rollout?: { readonly words: string } | undefined;
}

function outlineOf({ stages, waits = [] }: PlannedStages): PlanOutline {
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  return {
    stages: stages.map(({ after, changes }) => ({
      after: after.map(waitOf),
      changes: changes.map(({ type, added, changed, removed }) => ({
        type: { name: type },
        added: named(added),
        changed: changed.map((name) => ({ after: { name } })),
        removed: named(removed),
      })),
    })),
    waits: waits.map(waitOf),
  };
}

function waitOf({ kind, type, names, for: cause }: WaitJson): WaitOutline {
  return {
    kind,
    type: { name: type },
    names,
    for: cause ? { type: { name: cause.type }, names: cause.names } : undefined,
  };
}

/** The stages of each group, as `plan` prints them. */
export function groupStagesText(groups: readonly PlannedStages[], paint: Paint): string {
  const one = (of: PlannedStages) => {
    const rollout = of.rollout === undefined ? "" : `rollout: ${printable(of.rollout.words)}\n`;
    return `${colouredPlan(formatPlan(outlineOf(of), { name: printable }), paint)}${rollout}`;
  };
  const [first] = groups;
  if (groups.length === 1 && first?.group === everyNode) return one(first);
  return groups.map((group) => `group ${printable(group.group)}: ${one(group)}`).join("\n");
}
