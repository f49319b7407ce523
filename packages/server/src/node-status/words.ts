import { listNames } from "@xdskit/api";
import type { HeldBack, NodeState, RejectionReport, TypeReport, WaitReport } from "../contracts/nodes/node-status.js";

/** How many of several names are named. */
const mostNamed = 3;

/** Why a type is not synced, in words; empty if it is. All that shows a node says it with these. */
export function whyOf(
  report: Pick<TypeReport, "sent" | "acknowledged" | "rejected" | "waits" | "heldBack" | "behind">,
  state: NodeState,
): string {
  const { sent, acknowledged, rejected, waits, heldBack, behind } = report;
  if (state === "synced") return "";
  if (rejected !== undefined) return rejectionWords(rejected);
  if (state === "held-back") return heldBack === undefined ? "" : heldBackWords(heldBack);
  const [wait] = waits;
  if (wait !== undefined) return waitText(wait);
  if (sent !== undefined && sent.version !== acknowledged?.version) return "waits for its ACK";
  return behind === 1 ? "1 resource is not sent yet" : `${behind} resources are not sent yet`;
}

/** A client's words against a response. Secrets were taken out when they came. */
export function rejectionWords({ code, message }: Pick<RejectionReport, "code" | "message">): string {
  return message === "" ? `rejected with code ${code}` : message;
}

/** `2 resources held back by the rollout of edge at step 1 of 3 (halted)`. */
export function heldBackWords({ resources, quarantined, rollout }: HeldBack): string {
  const what = resources === 1 ? "1 resource" : `${resources} resources`;
  if (rollout === undefined) return `${what} held back by a quarantine`;
  const { group, state, step, steps } = rollout;
  const halted = state === "halted" ? ", halted" : "";
  const more = quarantined === 0 ? "" : `, ${quarantined} of them by a quarantine`;
  return `${what} held back by the rollout of ${group} at step ${step} of ${steps}${halted}${more}`;
}

/** The resources that wait, and what for. */
export function waitText({ names, why }: WaitReport): string {
  return `${listNames(names, mostNamed)}: ${why}`;
}

/** What a change waits for. `isRejected`: the client rejected this resource, so that others wait until it is fixed. */
export function waitWords(
  { kind, for: awaited }: Pick<WaitReport, "kind" | "for">,
  isRejected: (type: string, name: string) => boolean,
): string {
  const others = awaited === undefined ? "" : `${awaited.type} ${listNames(awaited.names, mostNamed)}`;
  const rejected = awaited?.names.filter((name) => isRejected(awaited.type, name)) ?? [];
  const why = rejected.length === 0 ? "" : `; the client rejected ${listNames(rejected, mostNamed)}`;
  switch (kind) {
    case "make":
      return `waits until ${others} is acknowledged${why}`;
    case "break":
      return `stays until the change or removal of ${others} is acknowledged${why}`;
    case "linger":
      return `stays for a while, since connections drain${others === "" ? "" : ` from ${others}`}`;
    case "named":
      return "stays until the client asks for it no longer";
  }
}
