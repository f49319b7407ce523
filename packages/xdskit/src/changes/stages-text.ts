import {
  formatPlan,
  type PlanOutline,
  type PlanTextOptions,
  type StageJson,
  type WaitJson,
  type WaitOutline,
} from "@xdskit/protocol";
import { everyNode } from "@xdskit/server";
import type { GroupStagesView } from "../api-client/api-types.js";
import type { Paint } from "../output/colours.js";
import { printable } from "../output/printable.js";
import { colouredPlan } from "./plan-colours.js";

/** Writes stages that a server planned as `formatPlan` writes a plan. */
function stagesText(
  stages: readonly StageJson[],
  held: readonly WaitJson[] = [],
  options: PlanTextOptions = {},
): string {
  return formatPlan(outlineOf(stages, held), options);
}

function outlineOf(stages: readonly StageJson[], held: readonly WaitJson[]): PlanOutline {
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
    held: held.map(waitOf),
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
export function groupStagesText(groups: readonly GroupStagesView[], paint: Paint): string {
  const one = ({ stages, held }: GroupStagesView) => colouredPlan(stagesText(stages, held, { name: printable }), paint);
  const [first] = groups;
  if (groups.length === 1 && first?.group === everyNode) return one(first);
  return groups.map((group) => `group ${printable(group.group)}: ${one(group)}`).join("\n");
}
