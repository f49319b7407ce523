import type { ResourceName } from "@xdskit/api";
import { isLocator } from "../../model/names/locator.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { StreamEffect } from "../contract/effects.js";
import { find } from "../state/find.js";
import { withPending } from "../state/sent-state.js";
import { noneUndecided, type Subscriber } from "../state/subscriber.js";

/*
 * Types that are supplied on demand. A name that a client asks for and the snapshot lacks is undecided: neither there
 * nor absent. The server's owner is told such names (effect `demanded`). It either supplies the resource with a later
 * snapshot, or decides that there is none (event `absent`).
 */

/** The changes that a request makes to the names that a client asks for explicitly. */
export interface Demand {
  /** Names that the client asks for now and did not before. */
  readonly added: readonly ResourceName[];
  /** Names that it asks for again: it wants another answer (rule 86). */
  readonly again: readonly ResourceName[];
  readonly dropped: readonly ResourceName[];
}

/** The demand in a delta request, which may repeat a name. Costs the size of the request, not of the subscription. */
export function demandOfDelta(subscribe: NameSet, unsubscribe: NameSet, before: NameSet, after: NameSet): Demand {
  const asked = [...subscribe].filter((name) => after.has(name));
  return {
    added: asked.filter((name) => !before.has(name)),
    again: asked.filter((name) => before.has(name)),
    dropped: [...unsubscribe].filter((name) => before.has(name) && !after.has(name)),
  };
}

/** The demand in a SotW request. It has all names, so the comparison costs the size of the request. */
export function demandOfSotw(before: NameSet, after: NameSet): Demand {
  if (before === after) return nothing;
  return {
    added: [...after].filter((name) => !before.has(name)),
    again: [],
    dropped: [...before].filter((name) => !after.has(name)),
  };
}

const nothing: Demand = { added: [], again: [], dropped: [] };

/** Variants are not supplied on demand: a client that asks with parameters gets the existing resources. */
function withoutLocators(demand: Demand): Demand {
  const plain = (names: readonly ResourceName[]) => names.filter((name) => !isLocator(name));
  if (![...demand.added, ...demand.again, ...demand.dropped].some(isLocator)) return demand;
  return { added: plain(demand.added), again: plain(demand.again), dropped: plain(demand.dropped) };
}

/** Marks the new names as undecided, until they are in a snapshot or the owner decides that they do not exist. */
function noteDemand(subscriber: Subscriber, { added, again, dropped }: Demand): void {
  // The owner decides thousands of names one by one, so the set is changed in place: a copy for each would cost too
  // much.
  if (subscriber.undecided === noneUndecided) subscriber.undecided = new Set();
  for (const name of dropped) subscriber.undecided.delete(name);
  for (const name of [...added, ...again]) subscriber.undecided.add(name);
  subscriber.seen = subscriber.seen.without(dropped);
  subscriber.waitsFor = subscriber.waitsFor.without(dropped);
}

/**
 * Records the names that a request asks for and that may be supplied. The effect tells the supplier. Undefined if the
 * request asks for the same as before.
 */
export function demandedOf(
  subscriber: Subscriber,
  asked: Demand,
  newest: Snapshot | undefined,
): StreamEffect | undefined {
  const demand = withoutLocators(asked);
  if (demand.added.length + demand.again.length + demand.dropped.length === 0) return undefined;
  const { type, subscription } = subscriber;
  noteDemand(subscriber, demand);
  if (newest !== undefined) noteNewest(subscriber, newest.of(type));
  return { kind: "demanded", type, ...demand, names: subscription.names };
}

/** Records the decision that names do not exist, and why. A client that is told errors must be told that. */
export function decide(
  subscriber: Subscriber,
  names: NameSet,
  errors: readonly ResourceError[],
  tellsErrors: boolean,
): void {
  for (const name of names) subscriber.undecided.delete(name);
  if (!tellsErrors) return;
  const waiting = [...names].filter((name) => subscriber.subscription.names.has(name));
  subscriber.sent = withPending(subscriber.sent, waiting);
  subscriber.errors = noted(
    subscriber.errors,
    errors.filter(({ name }) => subscriber.subscription.names.has(name)),
  );
}

/**
 * Compares undecided names with the newest set. Nobody decides on a name that exists. So a name that was there, and
 * went before it could be sent, counts as decided from then on.
 */
export function noteNewest(subscriber: Subscriber, newest: ResourceSet): void {
  const { undecided, seen } = subscriber;
  if (undecided.size === 0) return;
  const there = NameSet.of([...undecided].filter((name) => find(newest, name).length > 0));
  for (const name of seen) if (!there.has(name)) undecided.delete(name);
  subscriber.seen = there;
}

/** The undecided names that a set lacks. Names that it has are no longer undecided. */
export function undecidedIn({ undecided }: Subscriber, current: ResourceSet): ReadonlySet<ResourceName> {
  for (const name of undecided) if (find(current, name).length > 0) undecided.delete(name);
  return undecided;
}

/**
 * Whether a full state (SotW LDS and CDS by name) waits for undecided names, since a name that is not in it counts as
 * absent. Names that come while it waits do not prolong the wait, or a client that always asks for new names would
 * never hear of changes. A wildcard does not wait for the names beside it.
 */
export function mustWait(subscriber: Subscriber, undecided: ReadonlySet<ResourceName>): boolean {
  if (!subscriber.type.fullState || subscriber.subscription.wildcard) {
    subscriber.waitsFor = NameSet.empty;
    return false;
  }
  const waitedFor = subscriber.waitsFor;
  if (waitedFor.size === 0) subscriber.waitsFor = NameSet.of(undecided);
  else subscriber.waitsFor = waitedFor.without([...waitedFor].filter((name) => !undecided.has(name)));
  return subscriber.waitsFor.size > 0;
}

/** The undecided ones among the names. */
export function among(names: NameSet, undecided: ReadonlySet<ResourceName>): NameSet {
  if (names.size === 0 || undecided.size === 0) return NameSet.empty;
  return NameSet.of([...names].filter((name) => undecided.has(name)));
}

/** Keeps the errors of names that a client waits for, each cut to a bounded text. */
function noted(
  known: ReadonlyMap<ResourceName, ResourceError>,
  errors: readonly ResourceError[],
): ReadonlyMap<ResourceName, ResourceError> {
  const all = new Map(known);
  for (const { name, code, message } of errors) all.set(name, { name, code, message: message.slice(0, longest) });
  return all;
}

const longest = 1024;
