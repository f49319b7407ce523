import { redactErrorText } from "@xdskit/api";
import type { ErrorDetail } from "../messages/requests.js";
import { blameOf } from "./blame.js";
import { none, type Rejection, type Sent } from "./client-use.js";
import type { StreamEffect } from "./contract.js";
import { acknowledge, presumeAgain, reject, settleSilently, takeBack } from "./holding.js";
import { noteHeard } from "./just-asked.js";
import { noteAnswer } from "./lifetimes.js";
import { newIn } from "./rejected.js";
import type { Subscriber } from "./subscriber.js";

/**
 * Takes the answer to a response: `error_detail` alone makes it a rejection, whatever version it carries (rules 20, 21, 26). `superseded`: it answers all older responses of the type, too
 * (SotW); `each`: this one only (delta).
 */
export function answered(
  subscriber: Subscriber,
  sent: Sent,
  error: ErrorDetail | undefined,
  now: number,
  superseded: "superseded" | "each",
): StreamEffect {
  const presumed = takeBack(subscriber);
  const { outstanding } = subscriber;
  const effect = taken(subscriber, sent, error, now, superseded);
  noteHeard(subscriber, outstanding);
  if (presumed !== undefined) presumeAgain(subscriber, presumed);
  return effect;
}

function taken(
  subscriber: Subscriber,
  sent: Sent,
  error: ErrorDetail | undefined,
  now: number,
  superseded: "superseded" | "each",
): StreamEffect {
  const { type, outstanding } = subscriber;
  const { nonce, version } = sent;
  if (error === undefined) noteAnswer(subscriber, sent, "nothing");
  const rest = outstanding.filter(({ count }) =>
    superseded === "superseded" ? count > sent.count : count !== sent.count,
  );
  subscriber.outstanding = rest.length === 0 ? none : rest;
  if (error === undefined) {
    const before = superseded === "superseded" ? outstanding.filter(({ count }) => count < sent.count) : none;
    acknowledge(subscriber, sent, before, now);
    return { kind: "acknowledged", type, nonce, version };
  }
  const { code } = error;
  const about = superseded === "superseded" ? responseAgainst(subscriber, sent, outstanding) : sent;
  const carried = newIn(subscriber, about);
  const blame = blameOf(error.message, carried);
  // A heartbeat of a full state would send what was rejected again (rule 17): so none of its TTLs is kept alive.
  const isOneByOne = superseded === "each" || !type.fullState;
  noteAnswer(subscriber, sent, isOneByOne && blame?.usesRest ? blame.names : "everything");
  // Logs, events and pages show the message: no secrets in it.
  const message = redactErrorText(error.message);
  const rejection: Rejection = {
    version,
    nonce,
    code,
    message,
    at: now,
    blamed: blame?.names,
    usesRest: blame?.usesRest ?? false,
    before: subscriber.acked,
    after: about.set,
    carried,
  };
  if (!about.isHeartbeat) reject(subscriber, about, rejection);
  // A rejected heartbeat says nothing about contents, which the client has.
  else settleSilently(subscriber);
  return { kind: "rejected", type, nonce, version, code, message, rejection };
}

/** SotW: a heartbeat has the bodies once more, and a client that answers only the last response says by rejecting that what it has against those before. */
function responseAgainst({ ackedLast }: Subscriber, sent: Sent, outstanding: readonly Sent[]): Sent {
  if (!sent.isHeartbeat) return sent;
  const isOpen = ({ count, isHeartbeat }: Sent) =>
    !isHeartbeat && count < sent.count && count > (ackedLast?.order ?? 0);
  return outstanding.findLast(isOpen) ?? sent;
}
