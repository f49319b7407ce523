import type { ResourceName } from "@xdskit/api";
import { isLocator } from "../../model/names/locator.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { ResourceError } from "../../wire/responses/responses.js";
import type { StreamEffect } from "../contract/effects.js";
import { withPending } from "../state/sent-state.js";
import type { Subscriber } from "../state/subscriber.js";
import { awaitsAll, awaitsNone, comparedWith, decided, decidedBy, demanded } from "../state/undecided-names.js";

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
  // Undecided until they are in a snapshot, or the owner decides that they do not exist.
  subscriber.undecided = demanded(subscriber.undecided, [...demand.added, ...demand.again], demand.dropped);
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
  subscriber.undecided = decided(subscriber.undecided, names);
  if (!tellsErrors) return;
  const waiting = [...names].filter((name) => subscriber.subscription.names.has(name));
  subscriber.sent = withPending(subscriber.sent, waiting);
  subscriber.errors = noted(
    subscriber.errors,
    errors.filter(({ name }) => subscriber.subscription.names.has(name)),
  );
}

/** Compares undecided names with the newest set. */
export function noteNewest(subscriber: Subscriber, newest: ResourceSet): void {
  subscriber.undecided = comparedWith(subscriber.undecided, newest);
}

/** The undecided names that a set lacks. Names that it has are no longer undecided. */
export function undecidedIn(subscriber: Subscriber, current: ResourceSet): NameSet {
  subscriber.undecided = decidedBy(subscriber.undecided, current);
  return subscriber.undecided.names;
}

/**
 * Whether a full state (SotW LDS and CDS by name) waits for undecided names, since a name that is not in it counts as
 * absent. A wildcard does not wait for the names beside it.
 */
export function mustWait(subscriber: Subscriber): boolean {
  const waits = subscriber.type.fullState && !subscriber.subscription.wildcard;
  subscriber.undecided = waits ? awaitsAll(subscriber.undecided) : awaitsNone(subscriber.undecided);
  return subscriber.undecided.awaited.size > 0;
}

/** The undecided ones among the names. */
export function among(names: NameSet, undecided: NameSet): NameSet {
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
