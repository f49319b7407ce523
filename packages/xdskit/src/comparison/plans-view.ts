import { planJson } from "@xdskit/protocol";
import { countsOfSnapshot } from "../output/counts.js";
import type { GroupPlan } from "./group-plans.js";

/** The plans of groups for programs, as `--json` prints them. */
export function plansView(groups: readonly GroupPlan[]): object {
  return {
    groups: groups.map((group) => {
      if (group.kind !== "planned") {
        return { name: group.name, state: group.kind, resources: Object.fromEntries(countsOfSnapshot(group.snapshot)) };
      }
      return { name: group.name, state: "planned", ...planJson(group.plan) };
    }),
  };
}
