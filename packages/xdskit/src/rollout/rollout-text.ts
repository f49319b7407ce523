import { listNames, maxListed, printable } from "@xdskit/api";
import type { QuarantineJson, RolloutJson, RolloutList } from "../api-client/api-types.js";
import type { Colour, Paint } from "../output/colours.js";
import { counted } from "../output/counts.js";

/** All rollouts and quarantines of a server. */
export type RolloutsView = Pick<RolloutList, "rollouts" | "quarantines">;

/** Whether it may go further, or be taken back. */
export function isUnderWay({ state }: Pick<RolloutJson, "state">): boolean {
  return state === "waiting" || state === "soaking" || state === "halted";
}

/** Rollouts and quarantines for people. */
export function rolloutsText({ rollouts, quarantines }: RolloutsView, paint: Paint): string {
  if (rollouts.length === 0 && quarantines.length === 0) return "no rollout, and nothing in quarantine\n";
  return [...rollouts.map((rollout) => rolloutText(rollout, paint)), quarantinesText(quarantines, paint)].join("");
}

/** One rollout: its state, what it brings, and which nodes have it. */
export function rolloutText(rollout: RolloutJson, paint: Paint): string {
  const { group, state, step, steps, reason, nodes, waitsFor, rejections } = rollout;
  const at = isUnderWay(rollout) ? ` at step ${step} of ${steps.length} (${stepText(steps[step - 1])})` : "";
  const why = reason === "" ? "" : `: ${reason}`;
  const shown = rejections.slice(0, maxListed);
  const more = Math.max(nodes.rejected, rejections.length) - shown.length;
  const lines = [
    `${paint("strong", printable(`group ${group}`))}: ${paint(colourOf(rollout), state)}${printable(`${at}${why}`)}`,
    ...(rollout.changed === 0 ? [] : [`  changes ${printable(resourcesText(rollout))}`]),
    `  ${nodesText(rollout)}`,
    ...(waitsFor.length === 0 ? [] : [`  waits for ${printable(listNames(waitsFor))}`]),
    ...shown.map(({ node, type, message }) => printable(`  ${node} rejected ${type}: ${message}`)),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** After the end the counts are as of then, and do not say who has it now. */
function nodesText({ state, nodes: { reached, pending, rejected, held } }: RolloutJson): string {
  if (state === "withdrawn") return "nothing is left of its change: it was taken back, or went to all nodes at once";
  if (state === "completed") return `nodes: ${reached} have it or are to have it, ${rejected} rejected it`;
  if (state === "rolled-back")
    return `nodes: ${reached} had it or were to have it, ${rejected} rejected it; all get what was before`;
  return `nodes: ${reached} have it or are to have it, ${pending} of them without an answer, ${rejected} rejected it, ${held} keep what was before`;
}

function colourOf({ state }: RolloutJson): Colour {
  if (state === "completed") return "good";
  return state === "halted" ? "error" : "warning";
}

function stepText(step: object | undefined): string {
  return Object.entries(step ?? {})
    .map(([key, value]) => {
      if (key === "percent") return `${value} %`;
      if (key === "count") return counted(Number(value), "node");
      return Object.entries(value as object)
        .map(([field, wanted]) => `${field}: ${String(wanted)}`)
        .join(", ");
    })
    .join(", ");
}

function resourcesText({ changed, resources }: RolloutJson): string {
  const names = resources.map(({ type, name }) => `${type} ${name}`);
  return `${counted(changed, "resource")}: ${listNames(names, undefined, changed)}`;
}

function quarantinesText(quarantines: readonly QuarantineJson[], paint: Paint): string {
  const lines = quarantines.map(({ group, type, name, cause, node, message }) => {
    const who = node === "" ? "" : ` (${node}: ${message})`;
    return `${paint("warning", "quarantine:")} ${printable(`${type} ${name} in ${group}, ${cause}${who}`)}\n`;
  });
  return lines.join("");
}
