import type { ResourceName } from "@xdskit/api";
import { isLocator } from "../../model/names/locator.js";
import { NameSet } from "../../model/names/name-set.js";
import type { ResourceSet } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import type { ResourceError } from "../../wire/responses.js";
import type { StreamEffect } from "../contract/effects.js";
import { find } from "../state/find.js";
import { withPending } from "../state/sent-state.js";
import { noneUndecided, type Subscriber } from "../state/subscriber.js";

/*
 * Types that are supplied on demand: what a client names and the snapshot lacks is undecided, neither there nor absent.
 * The server's owner hears of such names (effect `demanded`) and either brings the resource in, with a later snapshot,
 * or decides that there is none (event `absent`).
 */

/** What a request changes about the names that a client asks for explicitly. */
export interface Demand {
  /** Asked for now and not before. */
  readonly added: readonly ResourceName[];
  /** Asked for once more: the client wants another answer (rule 86). */
  readonly again: readonly ResourceName[];
  readonly dropped: readonly ResourceName[];
}

/** What a delta request says of names, which may name one twice. Costs the request, not the subscription. */
export function demandOfDelta(subscribe: NameSet, unsubscribe: NameSet, before: NameSet, after: NameSet): Demand {
  const asked = [...subscribe].filter((name) => after.has(name));
  return {
    added: asked.filter((name) => !before.has(name)),
    again: asked.filter((name) => before.has(name)),
    dropped: [...unsubscribe].filter((name) => before.has(name) && !after.has(name)),
  };
}

/** What a SotW request says of names: all of them, so that it costs the request to compare. */
export function demandOfSotw(before: NameSet, after: NameSet): Demand {
  if (before === after) return nothing;
  return {
    added: [...after].filter((name) => !before.has(name)),
    again: [],
    dropped: [...before].filter((name) => !after.has(name)),
  };
}

const nothing: Demand = { added: [], again: [], dropped: [] };

/** Variants are not supplied on demand: who asks with parameters gets what there is. */
function withoutLocators(demand: Demand): Demand {
  const plain = (names: readonly ResourceName[]) => names.filter((name) => !isLocator(name));
  if (![...demand.added, ...demand.again, ...demand.dropped].some(isLocator)) return demand;
  return { added: plain(demand.added), again: plain(demand.again), dropped: plain(demand.dropped) };
}

/**
 * Notes the names that a client asks for from now on as undecided: until they are in a snapshot, or it was decided that
 * they do not exist.
 */
function noteDemand(subscriber: Subscriber, { added, again, dropped }: Demand): void {
  // Thousands of names are decided one by one: each must not cost as much as all.
  if (subscriber.undecided === noneUndecided) subscriber.undecided = new Set();
  for (const name of dropped) subscriber.undecided.delete(name);
  for (const name of [...added, ...again]) subscriber.undecided.add(name);
  subscriber.seen = subscriber.seen.without(dropped);
}

/**
 * Notes what a request asks for that may be supplied; the effect tells whoever supplies it. Undefined: the request asks
 * for nothing else than before.
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

/** Notes that it was decided that names do not exist, and why; a client that is told errors must be told that. */
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
 * Compares undecided names with the newest set. Nobody decides on a name that is there; so one that was there and went,
 * before it could be sent, counts as decided from then on.
 */
export function noteNewest(subscriber: Subscriber, newest: ResourceSet): void {
  const { undecided, seen } = subscriber;
  if (undecided.size === 0) return;
  const there = NameSet.of([...undecided].filter((name) => find(newest, name).length > 0));
  for (const name of seen) if (!there.has(name)) undecided.delete(name);
  subscriber.seen = there;
}

/** The undecided names that a set lacks; those that it has are undecided no longer. */
export function undecidedIn({ undecided }: Subscriber, current: ResourceSet): ReadonlySet<ResourceName> {
  for (const name of undecided) if (find(current, name).length > 0) undecided.delete(name);
  return undecided;
}

/**
 * Whether a full state (SotW LDS and CDS by name) waits for undecided names, since a name that is not in it counts as
 * absent. Names that are asked for while it waits do not make it wait longer, or a client that asks for ever new names
 * would never hear of changes; and a wildcard does not wait for names beside it.
 */
export function mustWait(subscriber: Subscriber, undecided: ReadonlySet<ResourceName>): boolean {
  if (!subscriber.type.fullState || subscriber.subscription.wildcard) return false;
  const waitedFor = subscriber.waitsFor;
  if (waitedFor.size === 0) subscriber.waitsFor = NameSet.of(undecided);
  else subscriber.waitsFor = waitedFor.without([...waitedFor].filter((name) => !undecided.has(name)));
  return subscriber.waitsFor.size > 0;
}

/** Those of the names that are undecided. */
export function among(names: NameSet, undecided: ReadonlySet<ResourceName>): NameSet {
  if (names.size === 0 || undecided.size === 0) return NameSet.empty;
  return NameSet.of([...names].filter((name) => undecided.has(name)));
}

/** Keeps what is said about names that somebody waits for, and no more text than a client needs. */
function noted(
  known: ReadonlyMap<ResourceName, ResourceError>,
  errors: readonly ResourceError[],
): ReadonlyMap<ResourceName, ResourceError> {
  const all = new Map(known);
  for (const { name, code, message } of errors) all.set(name, { name, code, message: message.slice(0, longest) });
  return all;
}

const longest = 1024;
