import type { ResourceName } from "@xdskit/api";
import { isLocator } from "../locator.js";
import type { ResourceError } from "../messages/responses.js";
import { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { find } from "./content.js";
import type { StreamEffect } from "./contract.js";
import { noted } from "./resource-errors.js";
import { noneUndecided, type Subscriber } from "./subscriber.js";

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
 * Where what is missing may be supplied: names that a client waits for stay undecided until they are there, or until it was decided that they are not. Empty for
 * all other types, for which nothing is computed.
 */
function noteDemand(asker: Subscriber, { added, again, dropped }: Demand): void {
  // Thousands of names are decided one by one: each must not cost as much as all.
  if (asker.undecided === noneUndecided) asker.undecided = new Set();
  for (const name of dropped) asker.undecided.delete(name);
  for (const name of [...added, ...again]) asker.undecided.add(name);
  asker.seen = asker.seen.without(dropped);
}

/** What a request asks for that may be supplied: noted, and to be told to who supplies it. Undefined: nothing. */
export function demandedOf(asker: Subscriber, asked: Demand, newest: Snapshot | undefined): StreamEffect | undefined {
  const demand = withoutLocators(asked);
  if (demand.added.length + demand.again.length + demand.dropped.length === 0) return undefined;
  const { type, subscription } = asker;
  noteDemand(asker, demand);
  if (newest !== undefined) noteNewest(asker, newest.of(type));
  return { kind: "demanded", type, ...demand, names: subscription.names };
}

/** It was decided that names do not exist, and why; a client that is told errors is told so. */
export function decide(
  asker: Subscriber,
  names: NameSet,
  errors: readonly ResourceError[],
  tellsErrors: boolean,
): void {
  for (const name of names) asker.undecided.delete(name);
  if (!tellsErrors) return;
  const waiting = [...names].filter((name) => asker.subscription.names.has(name));
  asker.owed = asker.owed.with(waiting);
  asker.errors = noted(
    asker.errors,
    errors.filter(({ name }) => asker.subscription.names.has(name)),
  );
}

/**
 * Takes notice of the newest set. Whoever decides says nothing of names that are there: one that was, and went before it could be sent, is decided by that.
 */
export function noteNewest(asker: Subscriber, newest: ResourceSet): void {
  const { undecided, seen } = asker;
  if (undecided.size === 0) return;
  const there = NameSet.of([...undecided].filter((name) => find(newest, name).length > 0));
  for (const name of seen) if (!there.has(name)) undecided.delete(name);
  asker.seen = there;
}

/** Those of the undecided names that are not there; from now on only they are undecided. */
export function undecidedIn({ undecided }: Subscriber, current: ResourceSet): ReadonlySet<ResourceName> {
  for (const name of undecided) if (find(current, name).length > 0) undecided.delete(name);
  return undecided;
}

/**
 * Whether a full state waits (SotW, LDS and CDS by name): absence from it says that there is none. What is asked for while it waits does not make
 * it wait longer, or a client that asks for ever new names would never hear of changes; and a wildcard does not wait for names beside it.
 */
export function mustWait(asker: Subscriber, undecided: ReadonlySet<ResourceName>): boolean {
  if (!asker.type.fullState || asker.subscription.wildcard) return false;
  const waitedFor = asker.waitsFor;
  if (waitedFor.size === 0) asker.waitsFor = NameSet.of(undecided);
  else asker.waitsFor = waitedFor.without([...waitedFor].filter((name) => !undecided.has(name)));
  return asker.waitsFor.size > 0;
}

/** Those of the names that are undecided. */
export function among(names: NameSet, undecided: ReadonlySet<ResourceName>): NameSet {
  if (names.size === 0 || undecided.size === 0) return NameSet.empty;
  return NameSet.of([...names].filter((name) => undecided.has(name)));
}
