import type { RolloutOutcome, ServerEvent } from "@xdskit/server";
import type { Log } from "./log.js";

const texts: Readonly<Record<RolloutOutcome, string>> = {
  started: "a change goes to the first step of its rollout",
  restarted: "another change came on top: the rollout is at its first step again",
  advanced: "the rollout goes on to the next step",
  soaking: "all nodes of the step have acknowledged the change",
  halted: "the rollout has halted",
  resumed: "the rollout goes on",
  completed: "the rollout is complete: all nodes get the change",
  "rolled-back": "the rollout was rolled back: all nodes get what was before",
  withdrawn: "nothing is left of the change: the rollout is over",
};

/** A line for each step of a rollout. */
export function logRollout(log: Log, { outcome, rollout }: Extract<ServerEvent, { kind: "rollout" }>): void {
  const { id, group, step, steps, changed, nodes, reason } = rollout;
  const fields = { outcome, group, rollout: id, step: `${step}/${steps.length}`, changed, ...nodes };
  const ways = `publish a fix, or: xdskit rollout resume, promote or undo ${group}`;
  if (outcome === "halted") log.warn("rollout", { ...fields, reason }, `${texts[outcome]}: ${ways}`);
  else log.info("rollout", fields, texts[outcome]);
}

/** A line for the start and the end of a quarantine. */
export function logQuarantine(log: Log, event: Extract<ServerEvent, { kind: "quarantine" }>): void {
  const { group, count, resources, outcome } = event;
  const [first] = resources;
  const names = resources.slice(0, 10).map(({ type, name }) => `${type} ${name}`);
  const fields = { outcome, group, resources: count, names };
  if (outcome === "ended") {
    log.info("quarantine", fields, "quarantine ended");
  } else if (first?.cause === "rolled-back") {
    log.warn("quarantine", fields, "quarantine: the content that was rolled back is given to nobody until it changes");
  } else {
    const { node, message: reason } = first ?? { node: "", message: "" };
    log.warn(
      "quarantine",
      { ...fields, node, reason },
      "quarantine: clients that connect now get what was acknowledged last",
    );
  }
}
