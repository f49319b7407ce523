import type { ResourceName } from "@xdskit/api";
import { ResourceSets } from "../../model/resource-set.js";
import { type Assumption, noKeys, type Rejection, type Sent, type UsedState } from "../state/client-use.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { keysIn, toSendAgain } from "./rejected.js";
import { type Accepted, forgiven, isRejecting, rejecting, using } from "./used-state-steps.js";

/** How many unanswered responses are remembered; beyond this the oldest are forgotten. */
export const mostInFlight = 32;

/** Notes a response that was sent. */
export function noteInFlight(subscriber: Subscriber, sent: Sent): void {
  // Never changed in place: streams share these lists.
  const { inFlight } = subscriber;
  subscriber.inFlight = inFlight.length === 0 ? [sent] : [...inFlight.slice(1 - mostInFlight), sent];
}

/**
 * The unanswered responses that may still change what the client uses: those after the one that it acknowledged last.
 */
export function unanswered({ inFlight, ackedLast }: Subscriber): readonly Sent[] {
  return after(inFlight, ackedLast?.order ?? 0);
}

/** Those of them for which something may still wait: not what is assumed to be acknowledged. */
export function stillInFlight({ inFlight, ackedLast, assumed }: Subscriber): readonly Sent[] {
  return after(inFlight, Math.max(ackedLast?.order ?? 0, assumed?.upTo ?? 0));
}

function after(inFlight: readonly Sent[], last: number): readonly Sent[] {
  return inFlight.every(({ count }) => count > last) ? inFlight : inFlight.filter(({ count }) => count > last);
}

/** What the client itself said. */
export function saidBy({ assumed, used }: Subscriber): UsedState {
  return assumed?.said ?? used;
}

/** Notes that the client acknowledged a response. `before`: older ones that this answers, too (SotW). */
export function acknowledge(subscriber: Subscriber, sent: Sent, before: readonly Sent[], now: number): void {
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  subscriber.ackedLast = { version: sent.version, order: sent.count, at: now };
  const { used, isWhole } = subscriber;
  // Most of the time nothing is rejected, and the keys are not needed.
  const keys = isRejecting(used) ? new Set([sent, ...before].flatMap((one) => [...keysIn(one)])) : noKeys;
  useNext(subscriber, sent.set, isWhole ? "everything" : keys);
  // What has left `lastGood`, since it changed or is asked for no longer, may have been the fault: then the client may
  // accept the rest of what it rejected now.
  const gone = leftSince(used, subscriber.used);
  if (sent.isHeartbeat && gone.length === 0) return;
  sendAgain(subscriber, new Set([...keys, ...gone]), stillInFlight(subscriber));
}

/** The client uses `set`, or all that it was sent, where nothing of that is in flight. */
function useNext(subscriber: Subscriber, set: Sent["set"], accepted: Accepted): void {
  const { used, subscription, sent } = subscriber;
  const next = stillInFlight(subscriber).length === 0 ? sent.set : set;
  subscriber.used = using(used, next, accepted, subscription);
}

/** The keys that a client has left behind of those that it rejected. */
function leftSince({ lastGood }: UsedState, now: UsedState): readonly ResourceName[] {
  return lastGood === now.lastGood ? [] : [...lastGood.keys()].filter((key) => !now.lastGood.has(key));
}

function sendAgain(subscriber: Subscriber, accepted: ReadonlySet<ResourceName>, inFlight: readonly Sent[]): void {
  const again = toSendAgain(subscriber, accepted, inFlight);
  if (again.length > 0) subscriber.sent = withPending(subscriber.sent, again);
}

/** Notes that the client rejected a response, and what it uses instead of what that carried. */
export function reject(subscriber: Subscriber, sent: Sent, rejection: Rejection): void {
  // An older response than one that was acknowledged: what the client uses is known from that.
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  const { used, isWhole, subscription } = subscriber;
  subscriber.used = rejecting(used, sent, rejection, isWhole, subscription);
}

/**
 * The client was brought to another set without a response, since nothing in it concerned it: it uses that set then,
 * once nothing else is in flight.
 */
export function settleSilently(subscriber: Subscriber): void {
  const { used, sent, subscription } = subscriber;
  const { acked, rejection } = used;
  if (acked === sent.set || stillInFlight(subscriber).length > 0) return;
  if (acked !== undefined || rejection === undefined) subscriber.used = using(used, sent.set, noKeys, subscription);
  // It rejected the first response that it ever got, and has nothing.
  else if (isSomeRejectedGone(subscriber, rejection)) {
    subscriber.used = forgiven(used, sent.set, noKeys, subscription);
  }
  const gone = leftSince(used, subscriber.used);
  // What may have been the fault is gone: the rest of the rejected response is sent again.
  if (gone.length > 0) sendAgain(subscriber, new Set(gone), []);
}

/**
 * Something that the client rejected and goes on asking for has gone: SotW says nothing of that where a response is not
 * the full state.
 */
function isSomeRejectedGone({ subscription, sent, used }: Subscriber, { after }: Rejection): boolean {
  if (after === sent.set) return false;
  const { names, wildcard } = subscription;
  const isGone = (key: ResourceName) =>
    ResourceSets.get(after, key) !== undefined && ResourceSets.get(sent.set, key) === undefined;
  return [...used.lastGood.keys()].some((key) => (wildcard || names.has(key)) && isGone(key));
}

/**
 * A client that does not answer in time is taken to have acknowledged the response `upTo` and all before it, until it
 * says what it has.
 */
export function assume(subscriber: Subscriber, { upTo, set }: Omit<Assumption, "said">): void {
  subscriber.assumed = { upTo, set, said: saidBy(subscriber) };
  useNext(subscriber, set, noKeys);
}

/**
 * The client says something: an answer is taken from what it said before. Returns the assumption, for `assumeAgain`.
 */
export function takeBack(subscriber: Subscriber): Assumption | undefined {
  const { assumed } = subscriber;
  if (assumed === undefined) return undefined;
  subscriber.used = assumed.said;
  subscriber.assumed = undefined;
  return assumed;
}

/**
 * The client has still not answered all of what was assumed to be acknowledged: what waited for that has gone on, and
 * does not go back.
 */
export function assumeAgain(subscriber: Subscriber, assumed: Assumption): void {
  if (unanswered(subscriber).some(({ count }) => count <= assumed.upTo)) assume(subscriber, assumed);
}
