import type { Reference, Resource } from "@xdskit/api";
import { longestKey, maxTransitions } from "../../model/basics/limits.js";
import { PerKey } from "../../model/basics/memo.js";
import { type Change, changeBetween, type Difference } from "../../model/sets/change.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { isNamedBy } from "../../model/snapshots/named-by.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { covers, type Subscription } from "../../model/subscribed/subscription.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import { type Draining, nothingDrains, type Replaced, type Subscriber } from "../state/subscriber.js";
import { comingBackTime, type OrderingTimes } from "./ordering-times.js";
import { numberOf } from "./past-snapshots.js";

/*
 * Replaced or removed listeners still serve their connections for a while, and no acknowledgement says how long (Envoy
 * on the wire, 14). So the resources that only they name, such as the routes and clusters of an old listener, stay for
 * `drain` milliseconds after everything that the new listener names is in use. If the client asked for some of these by
 * name, it shows when the old listener is gone: it unsubscribes from all of them. Then they go earlier, after `linger`
 * milliseconds at least.
 */

/** The number of changes of listeners that are remembered. Beyond this, the oldest one counts as drained. */
const maxDraining = 256;

/** By change and subscription, the replaced listeners. */
const known = new PerKey<Change, Replaced>(maxTransitions);

/** What is left of replaced listeners, by the numbers of its resources. */
const unknownParts = new PerKey<Replaced, Replaced>(maxTransitions);

/**
 * The client no longer uses the set `before`. Resources that are gone, or that name less now, drain from `now` on
 * (milliseconds). `all`: the subscribers of all streams of the order. Returns these; undefined if there are none.
 */
export function noteDraining(
  subscriber: Subscriber,
  all: readonly Subscriber[],
  before: ResourceSet,
  now: number,
): Replaced | undefined {
  const {
    subscription,
    used: { set: usedSet },
  } = subscriber;
  if (usedSet === undefined || usedSet === before) return undefined;
  const what = replacedBy(changeBetween(before, usedSet), subscription);
  if (what.old.length === 0) return undefined;
  beginDraining(subscriber, [what], all, now);
  return what;
}

/** These drain from `now` on (milliseconds). */
export function beginDraining(
  subscriber: Subscriber | undefined,
  replaced: readonly Replaced[],
  all: readonly Subscriber[],
  now: number,
): void {
  const begin = (what: Replaced): Draining => {
    const isAsked = asksForAny(what.dropped, all);
    if (!serves(what)) {
      const until = Math.min(now + comingBackTime, endOfListeners(what, all));
      return { what, isAsked, since: now, begun: now, end: until, until };
    }
    return { what, isAsked, since: now, begun: undefined, end: undefined, until: undefined };
  };
  if (subscriber === undefined || replaced.length === 0) return;
  // The same may be considered again each time that a stream breaks or comes back. Only the newest entry stays.
  const again = new Set(replaced.filter((what) => !serves(what)).map(({ dropped }) => dropped));
  if (again.size > 0) {
    const isLeft = ({ what }: Draining) => serves(what) || !again.has(what.dropped);
    for (const one of all) one.draining = leftOf(one.draining, isLeft);
  }
  subscriber.draining = [...subscriber.draining, ...replaced.map(begin)].slice(-maxDraining);
}

/** When the listeners have drained that led to these, in milliseconds; `Infinity` if no such listener drains. */
function endOfListeners({ old }: Replaced, all: readonly Subscriber[]): number {
  const names = new Set(old.map(({ type, name }) => `${type.typeUrl} ${name}`));
  const ends = all.flatMap(({ draining }) =>
    draining.flatMap(({ what, end = Number.POSITIVE_INFINITY }) =>
      serves(what) && what.dropped.some(({ type, name }) => names.has(`${type} ${name}`)) ? [end] : [],
    ),
  );
  return ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
}

/** Another stream of the client goes, and leaves this one to remember what drains. */
export function inheritDraining(subscriber: Subscriber, from: readonly Subscriber[]): void {
  const known = new Set(subscriber.draining.map(({ what }) => what));
  const draining = from.flatMap((one) => one.draining).filter(({ what }) => !known.has(what));
  if (draining.length > 0) subscriber.draining = [...subscriber.draining, ...draining].slice(-maxDraining);
}

/** The same object for all clients that ask for the same. */
function replacedBy(change: Change, subscription: Subscription): Replaced {
  const { wildcard, names, parameters = "" } = subscription;
  const key = `${wildcard ? "*" : ""}${names.id} ${parameters}`;
  let replaced = known.get(change, key);
  if (replaced === undefined) {
    const differences = [...change.differences.values()].filter(({ before }) => before && covers(subscription, before));
    replaced = known.set(change, key, replacedAmong(differences));
  }
  return replaced;
}

/** The listeners among these that named something which their successors do not name. */
export function replacedAmong(differences: Iterable<Pick<Difference, "before" | "after">>): Replaced {
  const old: Resource[] = [];
  const dropped: Reference[] = [];
  const successors: Reference[] = [];
  for (const { before, after } of differences) {
    const less = before?.references.filter((reference) => !isNamedBy(after, reference)) ?? [];
    if (before === undefined || less.length === 0) continue;
    old.push(before);
    dropped.push(...less);
    successors.push(...(after?.references ?? []));
  }
  return { old, ledTo: [], dropped, successors };
}

/** Whether the client asks for any of these by name. */
function asksForAny(references: readonly Reference[], all: readonly Subscriber[]): boolean {
  return references.some(({ type, name }) =>
    all.some((one) => one.type.typeUrl === type && one.subscription.names.has(name)),
  );
}

/** What a check of the draining listeners looks at. */
export interface DrainingCheck {
  /** The subscribers of all streams of the order, which show whether the successors are in use. */
  readonly all: readonly Subscriber[];
  readonly wanted: Snapshot;
  /** Milliseconds. */
  readonly now: number;
  readonly times: OrderingTimes;
  /** A stream has gone since the last check. It may come back, and ask for the same. */
  readonly someLeft: boolean;
}

/** Forgets the changes that have drained by now. Returns whether the client has shown that something ends sooner. */
export function drain(subscriber: Subscriber, check: DrainingCheck): boolean {
  const later = subscriber.draining.map((each) => drainingAt(each, check));
  const isSooner = later.some(({ what, until = 0 }, index) => {
    const before = subscriber.draining[index];
    return until < (before?.until ?? 0) || what !== before?.what;
  });
  subscriber.draining = leftOf(later, ({ until }) => until === undefined || until > check.now);
  return isSooner;
}

function leftOf(all: readonly Draining[], isLeft: (one: Draining) => boolean): readonly Draining[] {
  const left = all.filter(isLeft);
  return left.length === 0 ? nothingDrains : left;
}

/** What is known now of listeners that drain. */
function drainingAt(last: Draining, check: DrainingCheck): Draining {
  const { all, now, times } = check;
  const before = now < last.since + comingBackTime ? { ...last, what: withoutShown(last.what, all) } : last;
  const { what, since, begun = beginOf(before, check) } = before;
  if (!serves(what)) return what.old.length === 0 ? { ...before, until: now } : before;
  if (begun === undefined) return before;
  const { end = begun + Math.max(times.drain, times.linger) } = before;
  // A stream of one type that only now comes back asks from now on.
  const isAsked = asksForAny(what.dropped, all);
  if (isAsked) return { what, isAsked, since, begun, end, until: end };
  const { until = end } = before;
  if (!before.isAsked) return { what, isAsked, since, begun, end, until };
  const ends = Math.max(begun + times.linger, check.someLeft ? now + comingBackTime : 0);
  return { what, isAsked, since, begun, end, until: Math.min(until, ends) };
}

/**
 * Whether these serve connections that a client must drain. Others (routes, say) are old because a stream of one type
 * each is away: what the client uses of them is known once that stream is back.
 */
function serves({ old }: Replaced): boolean {
  return old.some(({ type }) => type.drains);
}

/**
 * Without what the client has shown on an open stream, of which that stream tells more: routes that an old listener
 * led to may be others by now. Only a client that came back has such: an acknowledgement shows old listeners alone.
 */
function withoutShown(what: Replaced, all: readonly Subscriber[]): Replaced {
  const isNotShown = (one: Resource) => one.type.drains || !isShown(one, all);
  const [old, ledTo] = [what.old.filter(isNotShown), what.ledTo.filter(isNotShown)];
  if (old.length === what.old.length && ledTo.length === what.ledTo.length) return what;
  const key = `${old.map(numberOf).join()} ${ledTo.map(numberOf).join()}`;
  const part = unknownParts.get(what, key) ?? { ...what, old, ledTo };
  if (key.length <= longestKey) unknownParts.set(what, key, part);
  return part;
}

/** Whether the client has shown, on a stream that asks for it, which content of a resource it uses. */
function isShown(resource: Resource, all: readonly Subscriber[]): boolean {
  const asking = all.filter(({ type, subscription }) => type === resource.type && covers(subscription, resource));
  return asking.length > 0 && asking.every(({ used: { set: usedSet } }) => usedSet !== undefined);
}

/** When the successors came into use. A successor without an answer counts as in use once the answer is late. */
function beginOf({ what, since }: Draining, { all, wanted, now, times }: DrainingCheck): number | undefined {
  const { acknowledgement } = times;
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
