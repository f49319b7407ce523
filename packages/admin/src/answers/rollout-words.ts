import type { PlannedRollout } from "@xdskit/server";

/** `10 nodes first, then 10 %, 50 %, all; the halted rollout begins anew`. */
export function rolloutWords({ steps, underWay, isEnd }: PlannedRollout): string {
  const at = underWay === undefined ? "" : `at step ${underWay.step} of ${underWay.steps}`;
  const isHalted = underWay?.state === "halted";
  if (isEnd)
    return `at once, and the rollout ${isHalted ? "halted" : "under way"} ${at} ends: its change is taken back`;
  const [first = "", ...rest] = [...steps.map(stepWords), "all"];
  const way = `${first} first, then ${rest.join(", ")}`;
  if (underWay === undefined) return way;
  return `${way}; the rollout ${isHalted ? "halted" : "under way"} ${at} begins anew, with this change`;
}

function stepWords(step: PlannedRollout["steps"][number]): string {
  if ("count" in step) return step.count === 1 ? "1 node" : `${step.count} nodes`;
  if ("percent" in step) return `${step.percent} %`;
  const conditions = Object.entries(step.match).map(([field, wanted]) => `${field}: ${String(wanted)}`);
  return `nodes with ${conditions.join(", ")}`;
}
