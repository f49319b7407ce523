import type { ResourceName } from "@xdskit/api";
import { ResourceSets } from "../../model/sets/resource-set.js";
import { isBeforeAck, type NumberedResponse, withAcked } from "../state/exchange.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { type Assumption, noKeys, type Rejection, type UsedState } from "../state/used-state.js";
import { firstPublished, inFlightSinceAck, stillInFlight } from "./in-flight.js";
import { keysIn, toSendAgain } from "./rejected.js";
import { type Accepted, forgiven, isRejecting, rejecting, using } from "./used-state-steps.js";

/*
 * Changes what a client uses (`Subscriber.used`): by an answer, by a move to another set without a response, and by an
 * answer that is assumed.
 */

/** The client's use by its own answers, without assumptions. */
export function answeredBy({ assumed, used }: Subscriber): UsedState {
  return assumed?.answered ?? used;
}

/** Records that the client acknowledged a response. `before`: older responses that this also answers (SotW). */
export function acknowledge(
  subscriber: Subscriber,
  response: NumberedResponse,
  before: readonly NumberedResponse[],
  now: number,
): void {
  if (isBeforeAck(subscriber.exchange, response)) return;
  const { version, count } = response;
  const acked = { version, count, at: now, published: firstPublished(response, before) };
  subscriber.exchange = withAcked(subscriber.exchange, acked);
  const { used, isWhole } = subscriber;
  // Mostly nothing is rejected, and then the keys are not needed.
  const keys = isRejecting(used) ? new Set([response, ...before].flatMap((one) => [...keysIn(one)])) : noKeys;
  useNext(subscriber, response.set, isWhole ? "everything" : keys);
  // A key that left `lastGood` (it changed, or the client no longer asks for it) may have been the fault. Then the
  // client may now accept the rest of the rejected content.
  const gone = leftSince(used, subscriber.used);
  if (response.isHeartbeat && gone.length === 0) return;
  sendAgain(subscriber, new Set([...keys, ...gone]), stillInFlight(subscriber));
}

/** The client uses `set`, or everything that it was sent if nothing is in flight. */
function useNext(subscriber: Subscriber, set: NumberedResponse["set"], accepted: Accepted): void {
  const { used, subscription, sent } = subscriber;
  const next = stillInFlight(subscriber).length === 0 ? sent.set : set;
  subscriber.used = using(used, next, accepted, subscription);
}

/** The keys of `lastGood` that are no longer in it. */
function leftSince({ lastGood }: UsedState, now: UsedState): readonly ResourceName[] {
  return lastGood === now.lastGood ? [] : [...lastGood.keys()].filter((key) => !now.lastGood.has(key));
}

function sendAgain(
  subscriber: Subscriber,
  accepted: ReadonlySet<ResourceName>,
  inFlight: readonly NumberedResponse[],
): void {
  const again = toSendAgain(subscriber, accepted, inFlight);
  if (again.length > 0) subscriber.sent = withPending(subscriber.sent, again);
}

/** Records that the client rejected a response, and the contents that it uses instead. */
export function reject(subscriber: Subscriber, response: NumberedResponse, rejection: Rejection): void {
  // The client acknowledged a later response, which decides what it uses.
  if (isBeforeAck(subscriber.exchange, response)) return;
  const { used, isWhole, subscription } = subscriber;
  subscriber.used = rejecting(used, response, rejection, isWhole, subscription);
}

/**
 * The client was brought to another set without a response, since the change did not concern it. It uses that set once
 * nothing else is in flight.
 */
export function takeWithoutResponse(subscriber: Subscriber): void {
  const { used, sent, subscription } = subscriber;
  const { set: usedSet, rejection } = used;
  if (usedSet === sent.set || stillInFlight(subscriber).length > 0) return;
  if (usedSet !== undefined || rejection === undefined) subscriber.used = using(used, sent.set, noKeys, subscription);
  // It rejected its very first response and has nothing.
  else if (isSomeRejectedGone(subscriber, rejection)) {
    subscriber.used = forgiven(used, sent.set, noKeys, subscription);
  }
  const gone = leftSince(used, subscriber.used);
  // The possible fault is gone, so the rest of the rejected response is sent again.
  if (gone.length > 0) sendAgain(subscriber, new Set(gone), []);
}

/**
 * Whether something that the client rejected, and still asks for, is gone. SotW has no way to say so if a response is
 * not the full state.
 */
function isSomeRejectedGone({ subscription, sent, used }: Subscriber, { after }: Rejection): boolean {
  if (after === sent.set) return false;
  const { names, wildcard } = subscription;
  const isGone = (key: ResourceName) =>
    ResourceSets.get(after, key) !== undefined && ResourceSets.get(sent.set, key) === undefined;
  return [...used.lastGood.keys()].some((key) => (wildcard || names.has(key)) && isGone(key));
}

/**
 * Assumes that a client, which did not answer in time, acknowledged the response `upTo` and all before it. Its next
 * answer ends the assumption.
 */
export function assume(subscriber: Subscriber, { upTo, set }: Omit<Assumption, "answered">): void {
  subscriber.assumed = { upTo, set, answered: answeredBy(subscriber) };
  useNext(subscriber, set, noKeys);
}

/**
 * The client answers: its answer applies to its earlier answers, without the assumption. Returns that for
 * `assumeAgain`.
 */
export function takeBack(subscriber: Subscriber): Assumption | undefined {
  const { assumed } = subscriber;
  if (assumed === undefined) return undefined;
  subscriber.used = assumed.answered;
  subscriber.assumed = undefined;
  return assumed;
}

/**
 * Restores the assumption if the client has not answered everything that was assumed: the changes that went on do not
 * go back.
 */
export function assumeAgain(subscriber: Subscriber, assumed: Assumption): void {
  if (inFlightSinceAck(subscriber.exchange).some(({ count }) => count <= assumed.upTo)) assume(subscriber, assumed);
}
