import type { Resource, ResourceName } from "@xdskit/api";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { sharedBranch } from "../shared-branch.js";
import { covers } from "../subscription.js";
import {
  type Holding,
  noKeys,
  noneTaken,
  nothing,
  type Presumption,
  type Rejection,
  type Said,
  type Sent,
} from "./client-use.js";
import { faultyIn, keysIn, perhapsTaken, toSayAgain, usedInstead } from "./rejected.js";
import type { Subscriber } from "./subscriber.js";

/** How many unanswered responses are remembered; beyond this the oldest are forgotten. */
export const mostOutstanding = 32;

/** Notes a response that was sent. */
export function noteOutstanding(holding: Holding, sent: Sent): void {
  // Never changed in place: streams share these lists.
  const { outstanding } = holding;
  holding.outstanding = outstanding.length === 0 ? [sent] : [...outstanding.slice(1 - mostOutstanding), sent];
}

/** The unanswered responses that may still change what the client uses: those after the one that it acknowledged last. */
export function unanswered({ outstanding, ackedLast }: Holding): readonly Sent[] {
  return after(outstanding, ackedLast?.order ?? 0);
}

/** Those of them for which something may still wait: not what is taken as acknowledged. */
export function onTheirWay({ outstanding, ackedLast, presumed }: Holding): readonly Sent[] {
  return after(outstanding, Math.max(ackedLast?.order ?? 0, presumed?.upTo ?? 0));
}

function after(outstanding: readonly Sent[], last: number): readonly Sent[] {
  return outstanding.every(({ count }) => count > last) ? outstanding : outstanding.filter(({ count }) => count > last);
}

/** What the client itself said. */
export function saidBy(holding: Holding): Said {
  return holding.presumed?.said ?? holding;
}

/** Notes that the client acknowledged a response. `before`: older ones that this answers, too (SotW). */
export function acknowledge(subscriber: Subscriber, sent: Sent, before: readonly Sent[], now: number): void {
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  subscriber.ackedLast = { version: sent.version, order: sent.count, at: now };
  // Most of the time nothing is rejected, and the keys are not needed.
  const isRejecting = subscriber.instead.size > 0 || subscriber.rejection !== undefined;
  const keys = isRejecting ? new Set([sent, ...before].flatMap((one) => [...keysIn(one)])) : noKeys;
  const { instead } = subscriber;
  const accepted = subscriber.isWhole ? "everything" : keys;
  use(subscriber, onTheirWay(subscriber).length === 0 ? subscriber.held : sent.set, accepted);
  // What has left `instead`, since it changed or is asked for no longer, may have been the fault: then the rest of what was rejected may be accepted now.
  const gone = [...instead.keys()].filter((key) => !subscriber.instead.has(key));
  const isNothingNew = sent.isHeartbeat && gone.length === 0;
  const again = isNothingNew ? [] : toSayAgain(subscriber, new Set([...keys, ...gone]), onTheirWay(subscriber));
  if (again.length > 0) subscriber.owed = subscriber.owed.with(again);
}

/** Notes that the client rejected a response, and what it uses instead of what that carried. */
export function reject(subscriber: Subscriber, sent: Sent, rejection: Rejection): void {
  // An older response than one that was acknowledged: what the client uses is known from that.
  if (sent.count <= (subscriber.ackedLast?.order ?? 0)) return;
  const { before, usesRest } = rejection;
  const used = usedInstead(rejection, sent, subscriber.isWhole);
  const perhaps = perhapsTaken(subscriber);
  if (subscriber.rejection !== undefined) forgive(subscriber, sent.set, acceptedOf(sent, rejection));
  const instead = new Map(subscriber.isWhole ? nothing : subscriber.instead);
  // Where a key was rejected before, too, the later rejection says what is used.
  for (const [key, resource] of used) instead.set(key, resource);
  subscriber.faulty = faultyIn(rejection, subscriber);
  subscriber.rejection = rejection;
  subscriber.perhaps = perhaps;
  subscriber.instead = subscriber.instead.size === 0 || subscriber.isWhole ? used : instead;
  // The same set for all clients that rejected the same.
  subscriber.acked = before === undefined && !usesRest ? undefined : sharedBranch(sent.set, subscriber.instead);
}

/** The keys of what a client uses of a response that it rejected. */
function acceptedOf(sent: Sent, { usesRest, blamed = [], carried }: Rejection): ReadonlySet<ResourceName> {
  if (!usesRest) return noKeys;
  const faulty = new Set(blamed);
  const keys = new Set(keysIn(sent));
  for (const { name, key } of carried) if (faulty.has(name)) keys.delete(key);
  return keys;
}

/** The client was brought to another set without a response, since nothing in it concerned it: it uses that set then, once nothing else is on its way. */
export function settleSilently(subscriber: Subscriber): void {
  const { acked, held, instead, rejection } = subscriber;
  if (acked === held || onTheirWay(subscriber).length > 0) return;
  if (acked !== undefined || rejection === undefined) use(subscriber, held, noKeys);
  // It rejected the first response that it ever got, and has nothing.
  else if (isSomeRejectedGone(subscriber, rejection)) forgive(subscriber, held, noKeys);
  if (subscriber.instead.size === instead.size) return;
  // What may have been the fault is gone: the rest of the rejected response is sent again.
  const gone = [...instead.keys()].filter((key) => !subscriber.instead.has(key));
  const again = toSayAgain(subscriber, new Set(gone), []);
  if (again.length > 0) subscriber.owed = subscriber.owed.with(again);
}

/** Something that the client rejected and goes on asking for has gone: SotW says nothing of that where a response is not the full state. */
function isSomeRejectedGone(
  { held, instead, subscription: { names, wildcard } }: Subscriber,
  { after }: Rejection,
): boolean {
  if (after === held) return false;
  const isGone = (key: ResourceName) =>
    ResourceSets.get(after, key) !== undefined && ResourceSets.get(held, key) === undefined;
  return [...instead.keys()].some((key) => (wildcard || names.has(key)) && isGone(key));
}

/** A client that does not answer in time is taken to have acknowledged the response `upTo` and all before it, until it says what it has. */
export function presume(subscriber: Subscriber, { upTo, set }: Omit<Presumption, "said">): void {
  const { acked, rejection, instead, perhaps, faulty } = saidBy(subscriber);
  subscriber.presumed = { upTo, set, said: { acked, rejection, instead, perhaps, faulty } };
  use(subscriber, onTheirWay(subscriber).length === 0 ? subscriber.held : set, noKeys);
}

/** The client says something: an answer is taken from what it said before. Returns what was presumed, for `presumeAgain`. */
export function takeBack(subscriber: Subscriber): Presumption | undefined {
  const { presumed } = subscriber;
  if (presumed === undefined) return undefined;
  Object.assign(subscriber, presumed.said);
  subscriber.presumed = undefined;
  return presumed;
}

/** Of what was presumed the client has still not answered all: what waited for that has gone on, and does not go back. */
export function presumeAgain(subscriber: Subscriber, presumed: Presumption): void {
  if (unanswered(subscriber).some(({ count }) => count <= presumed.upTo)) presume(subscriber, presumed);
}

/** The client uses `set`, but for what it rejected of it and did not accept (keys in `accepted`) since. */
function use(subscriber: Subscriber, set: ResourceSet, accepted: ReadonlySet<ResourceName> | "everything"): void {
  if (subscriber.instead.size > 0 || subscriber.rejection !== undefined) forgive(subscriber, set, accepted);
  subscriber.acked = subscriber.instead.size === 0 ? set : sharedBranch(set, subscriber.instead);
}

/** Takes out of `instead` what the client accepted since, asks for no longer, or is to have with another content than the rejected one. */
function forgive(subscriber: Subscriber, set: ResourceSet, accepted: ReadonlySet<ResourceName> | "everything"): void {
  const { rejection } = subscriber;
  const still = new Map<ResourceName, Resource | undefined>();
  if (accepted !== "everything" && rejection !== undefined) {
    for (const [key, used] of subscriber.instead) {
      const rejected = ResourceSets.get(rejection.after, key);
      const current = ResourceSets.get(set, key);
      // Where it rejected a removal, it uses the resource as long as it asks for it.
      const asked = current ?? used;
      const isAsked = asked === undefined || covers(subscriber.subscription, asked);
      const isSame = current?.version === rejected?.version;
      if (isSame && isAsked && !accepted.has(key)) still.set(key, used);
    }
  }
  // The same map as long as it says the same, so that whoever compares it by identity sees no change.
  if (still.size < subscriber.instead.size) subscriber.instead = still.size === 0 ? nothing : still;
  subscriber.faulty = still.size === 0 ? noKeys : new Set([...subscriber.faulty].filter((key) => still.has(key)));
  if (still.size > 0) return;
  subscriber.rejection = undefined;
  subscriber.perhaps = noneTaken;
}
