import { listNames } from "@xdskit/api";
import type { ConfigArrivalWait } from "../../contracts/nodes/arrival.js";
import type { HeldBack, NodeState, RejectionReport, WaitReport } from "../../contracts/nodes/node-status.js";

/** How many of several names are named. */
const maxNamed = 3;

/** What a client waits for that does not have its target yet, and that in words. */
export interface NextStep {
  readonly reason: Exclude<ConfigArrivalWait["reason"], "held-back">;
  readonly why: string;
}

/** Why a type is not synced, in words; empty if it is. All that shows a node says it with these. */
export function whyOf(of: {
  readonly state: NodeState;
  readonly rejected: Pick<RejectionReport, "code" | "message"> | undefined;
  readonly heldBack: HeldBack | undefined;
  readonly next: NextStep;
}): string {
  switch (of.state) {
    case "synced":
      return "";
    case "held-back":
      return of.heldBack === undefined ? "" : heldBackWords(of.heldBack);
    case "rejected":
      return of.rejected === undefined ? "" : rejectionWords(of.rejected);
    case "pending":
      return of.next.why;
    case "stale":
      return `silent: ${of.next.why}`;
  }
}

/** What waits until a client that is back has said what it has. */
export const comesBackWords = "waits to hear what the client, which came back, still has: it may ask for other types";

/** What is neither sent nor waits for others. */
export function unsentWords(behind: number): string {
  if (behind === 0) return "is not answered yet";
  return behind === 1 ? "1 resource is not sent yet" : `${behind} resources are not sent yet`;
}

/** A client's words against a response. Secrets were taken out when they came. */
export function rejectionWords({ code, message }: Pick<RejectionReport, "code" | "message">): string {
  return message === "" ? `rejected with code ${code}` : message;
}

/** `2 resources held back by the rollout of edge at step 1 of 3 (halted)`. */
export function heldBackWords({ resources, quarantined, rollout, why }: HeldBack): string {
  const what = resources === 1 ? "1 resource" : `${resources} resources`;
  if (why !== undefined) return `${what} held back, since ${why}`;
  if (rollout === undefined) return `${what} held back by a quarantine`;
  const { group, state, step, steps } = rollout;
  const halted = state === "halted" ? ", halted" : "";
  const more = quarantined === 0 ? "" : `, ${quarantined} of them by a quarantine`;
  return `${what} held back by the rollout of ${group} at step ${step} of ${steps}${halted}${more}`;
}

/** The resources that wait, and what for. */
export function waitText({ names, why }: WaitReport): string {
  return `${listNames(names, maxNamed)}: ${why}`;
}

/** What a change waits for. `isRejected`: the client rejected this resource, so that others wait until it is fixed. */
export function waitWords(
  { kind, for: awaited }: Pick<WaitReport, "kind" | "for">,
  isRejected: (type: string, name: string) => boolean,
): string {
  const others = awaited === undefined ? "" : `${awaited.type} ${listNames(awaited.names, maxNamed)}`;
  const rejected = awaited?.names.filter((name) => isRejected(awaited.type, name)) ?? [];
  const why = rejected.length === 0 ? "" : `; the client rejected ${listNames(rejected, maxNamed)}`;
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
