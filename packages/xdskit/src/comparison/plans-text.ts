import { formatPlan, type PlanTextOptions } from "@xdskit/protocol";
import { everyNode } from "@xdskit/server";
import { countedAll, countsOfSnapshot } from "../output/counts.js";
import type { GroupPlan } from "./group-plans.js";

/** The plans of groups for people; without settings there is only one group, and its name is left out. */
export function plansText(groups: readonly GroupPlan[], options: PlanTextOptions): string {
  const [first] = groups;
  if (groups.length === 1 && first?.name === everyNode) return groupText(first, options);
  return groups.map((group) => `group ${group.name}: ${groupText(group, options)}`).join("\n");
}

function groupText(group: GroupPlan, options: PlanTextOptions): string {
  switch (group.kind) {
    case "planned":
      return formatPlan(group.plan, options);
    case "new":
      return `new, with ${countedAll(countsOfSnapshot(group.snapshot))}; clients that come to it from another group are brought in stages, too\n`;
    case "gone":
      return `gone, with ${countedAll(countsOfSnapshot(group.snapshot))}; its clients get what another group has, or are refused\n`;
  }
}
