import type { PlanStage, Wait } from "@xdskit/protocol";
import { countsOfSnapshot } from "../output/counts.js";
import type { GroupPlan } from "./group-plans.js";

/** The plans of groups for programs, as `--json` prints them. */
export function plansView(groups: readonly GroupPlan[]): object {
  return {
    groups: groups.map((group) => {
      if (group.kind !== "planned") {
        return { name: group.name, state: group.kind, resources: Object.fromEntries(countsOfSnapshot(group.snapshot)) };
      }
      const { stages, held } = group.plan;
      return { name: group.name, state: "planned", stages: stages.map(stageView), held: held.map(waitView) };
    }),
  };
}

function stageView({ after, changes }: PlanStage): object {
  return {
    after: after.map(waitView),
    changes: changes.map(({ type, added, changed, removed }) => ({
      type: type.name,
      added: added.map(({ name }) => name),
      changed: changed.map(({ after }) => after.name),
      removed: removed.map(({ name }) => name),
    })),
  };
}

function waitView({ kind, type, names, for: cause }: Wait): object {
  return { kind, type: type.name, names, for: cause && { type: cause.type.name, names: cause.names } };
}
