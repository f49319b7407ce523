import type { Reference, Resource } from "@xdskit/api";
import { mostTransitions } from "../../model/basics/limits.js";
import { PerKey } from "../../model/basics/memo.js";
import { type Change, changeBetween } from "../../model/sets/change.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { covers, type Subscription } from "../../model/subscribed/subscription.js";
import { isNamedBy } from "../../planning/named-by.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import { type Draining, nothingDrains, type Replaced, type Subscriber } from "../state/subscriber.js";
import type { OrderingTimes } from "./ordering-times.js";

/*
 * Replaced or removed listeners still serve their connections for a while, and no acknowledgement says how long (Envoy
 * on the wire, 14). So the resources that only they name, such as the routes and clusters of an old listener, stay for
 * `drain` milliseconds after everything that the new listener names is in use. If the client asked for some of these by
 * name, it shows when the old listener is gone: it unsubscribes from all of them. Then they go earlier, after `linger`
 * milliseconds at least.
 */

/** The number of changes of listeners that are remembered. Beyond this, the oldest one counts as drained. */
const mostDraining = 256;

/** By change and subscription, the replaced listeners. */
const known = new PerKey<Change, Replaced>(mostTransitions);

/**
 * The client no longer uses the set `before`. Resources that are gone, or that name less now, drain from `now` on
 * (milliseconds). `all`: the subscribers of all streams of the order.
 */
export function noteDraining(
  subscriber: Subscriber,
  all: readonly Subscriber[],
  before: ResourceSet,
  now: number,
): void {
  const {
    subscription,
    used: { set: usedSet },
  } = subscriber;
  if (usedSet === undefined || usedSet === before) return;
  const what = replacedBy(changeBetween(before, usedSet), subscription);
  if (what.listeners.length === 0) return;
  const isAsked = asksForAny(what.dropped, all);
  const draining = [...subscriber.draining, { what, isAsked, since: now, begun: undefined, until: undefined }];
  subscriber.draining = draining.slice(-mostDraining);
}

/** The same object for all clients that ask for the same. */
function replacedBy(change: Change, subscription: Subscription): Replaced {
  const { wildcard, names, parameters = "" } = subscription;
  const key = `${wildcard ? "*" : ""}${names.id} ${parameters}`;
  let replaced = known.get(change, key);
  if (replaced === undefined) {
    const listeners: Resource[] = [];
    const dropped: Reference[] = [];
    const successors: Reference[] = [];
    for (const { before: old, after } of change.differences.values()) {
      if (old === undefined || !covers(subscription, old)) continue;
      const less = old.references.filter((reference) => !isNamedBy(after, reference));
      if (less.length === 0) continue;
      listeners.push(old);
      dropped.push(...less);
      successors.push(...(after?.references ?? []));
    }
    replaced = known.set(change, key, { listeners, dropped, successors });
  }
  return replaced;
}

/** Whether the client asks for any of these by name. */
function asksForAny(references: readonly Reference[], all: readonly Subscriber[]): boolean {
  return references.some(({ type, name }) =>
    all.some((one) => one.type.typeUrl === type && one.subscription.names.has(name)),
  );
}

/**
 * Forgets the changes that have drained by now. `all`: the subscribers of all streams of the order, which show whether
 * the successors are in use. Returns whether the client has shown that something ends sooner.
 */
export function drain(
  subscriber: Subscriber,
  all: readonly Subscriber[],
  wanted: Snapshot,
  now: number,
  times: OrderingTimes,
): boolean {
  const later = subscriber.draining.map((each) => drainingAt(each, all, wanted, now, times));
  const isSooner = later.some(({ isAsked }, index) => isAsked !== subscriber.draining[index]?.isAsked);
  const left = later.filter(({ until }) => until === undefined || until > now);
  subscriber.draining = left.length === 0 ? nothingDrains : left;
  return isSooner;
}

/** What is known now of listeners that drain. */
function drainingAt(
  before: Draining,
  all: readonly Subscriber[],
  wanted: Snapshot,
  now: number,
  times: OrderingTimes,
): Draining {
  const { what, since, begun = beginOf(before, all, wanted, now, times) } = before;
  if (begun === undefined) return before;
  const { until = begun + Math.max(times.drain, times.linger) } = before;
  const isAsked = before.isAsked && asksForAny(what.dropped, all);
  const isSooner = before.isAsked && !isAsked;
  return { what, isAsked, since, begun, until: isSooner ? Math.min(until, begun + times.linger) : until };
}

/** When the successors came into use. A successor without an answer counts as in use once the answer is late. */
function beginOf(
  { what, since }: Draining,
  all: readonly Subscriber[],
  wanted: Snapshot,
  now: number,
  { acknowledgement }: OrderingTimes,
): number | undefined {
  if (what.successors.every((reference) => isInUse(reference, all, wanted))) return now;
  return now >= since + acknowledgement ? since + acknowledgement : undefined;
}

/**
 * Whether the client uses a resource that a new listener names. It acknowledged the resource, or it takes it from
 * elsewhere (no stream asks for it here, or it does not exist).
 */
function isInUse({ type, name }: Reference, all: readonly Subscriber[], wanted: Snapshot): boolean {
  const subscribers = all.filter((one) => one.type.typeUrl === type);
  const [first] = subscribers;
  const there = first && wanted.of(first.type).named(name);
  if (there === undefined || there.length === 0) return true;
  return subscribers.some((subscriber) => {
    const {
      subscription,
      sent: { pending },
      used: { set: usedSet },
    } = subscriber;
    if (pending.has(name) || stillInFlight(subscriber).length > 0) return false;
    return there.some((resource) => covers(subscription, resource)) && (usedSet?.named(name).length ?? 0) > 0;
  });
}

/** When the next drain time must be checked, in milliseconds; `Infinity` for never. */
export function nextOfDraining({ draining }: Subscriber, times: OrderingTimes): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { since, until = since + times.acknowledgement } of draining) next = Math.min(next, until);
  return next;
}
