import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { changeBetween } from "../change.js";
import { perPair } from "../per-pair.js";
import { type ResourceSet, ResourceSets } from "../resource-set.js";
import { sharedBranch } from "../shared-branch.js";
import { covers } from "../subscription.js";
import type { Holding, Rejection, Sent } from "./client-use.js";
import type { Subscriber } from "./subscriber.js";

/** The keys of all that a response brought, or took. */
export function keysIn({ carried, removed }: Sent): ReadonlySet<ResourceName> {
  return new Set([...carried.map(({ key }) => key), ...removed.map(canonicalName)]);
}

const knownNew = new WeakMap<readonly Resource[], WeakMap<Holding["instead"], readonly Resource[]>>();

/** What of a response the client was not using: what was sent for the first time, and what a full state repeats though it was rejected before. */
export function newIn({ isWhole, instead }: Holding, { carried, set }: Sent): readonly Resource[] {
  if (!isWhole || instead.size === 0) return carried;
  let known = knownNew.get(carried);
  if (known === undefined) {
    known = new WeakMap();
    knownNew.set(carried, known);
  }
  let found = known.get(instead);
  if (found === undefined) {
    const repeated = [...instead.keys()].map((key) => ResourceSets.get(set, key));
    found = [...new Set([...carried, ...repeated.filter((resource) => resource !== undefined)])];
    known.set(instead, found);
  }
  return found;
}

const knownInstead = new WeakMap<readonly Resource[], Map<string, Holding["instead"]>>();

/** Ways to reject one response that are remembered: more than that only clients know that blame ever others. */
const mostWays = 100;

/** By key, what is used instead of what was rejected: the same map for all clients that rejected the same. */
export function usedInstead(rejection: Rejection, sent: Sent, isWhole: boolean): Holding["instead"] {
  const { before, after, carried, blamed = [], usesRest } = rejection;
  let known = knownInstead.get(carried);
  if (known === undefined) {
    known = new Map();
    knownInstead.set(carried, known);
  }
  const key = `${before && ResourceSets.id(before)} ${ResourceSets.id(after)} ${usesRest ? blamed.join(" ") : "?"}`;
  let instead = known.get(key);
  if (instead === undefined) {
    const faulty = new Set(blamed);
    const keys = carried.filter(({ name }) => !usesRest || faulty.has(name)).map(({ key }) => key);
    // What it may not have used it may not have removed either.
    if (!usesRest) keys.push(...removedBy(sent, before, isWhole));
    instead = new Map(keys.map((key) => [key, before && ResourceSets.get(before, key)]));
    if (known.size >= mostWays) known.clear();
    known.set(key, instead);
  }
  return instead;
}

function removedBy({ removed, set }: Sent, before: ResourceSet | undefined, isWhole: boolean): readonly ResourceName[] {
  if (before === undefined) return [];
  if (isWhole) return changeBetween(before, set).removed.map(({ key }) => key);
  return removed.map(canonicalName).filter((key) => ResourceSets.get(before, key) !== undefined);
}

/**
 * What the client uses if it took what it rejected all the same: the last time, where it does not say what it did not take, and before, of what it rejected again since.
 * All else is as it uses it now: that what else there was when it rejected something has changed since is not forgotten.
 */
export function perhapsUsed(subscriber: Subscriber): readonly ResourceSet[] {
  const { acked, held, instead, rejection } = subscriber;
  if (rejection === undefined) return noSets;
  return perhapsTaken(subscriber).map((taken) => {
    const still = [...taken].filter(([key]) => instead.has(key));
    return sharedBranch(acked ?? held, still.length === taken.size ? taken : new Map(still));
  });
}

const noSets: readonly ResourceSet[] = [];

/** More than that in a row only clients reject that take what they reject, each time another part. */
const mostTaken = 8;

/** By key, what it may have taken of each of the responses that it rejected, the last one first. */
export function perhapsTaken({ instead, rejection, perhaps }: Holding): Holding["perhaps"] {
  if (rejection === undefined || rejection.usesRest) return perhaps;
  const last = takenOf(instead, rejection.after);
  return perhaps.length === 0 ? [last] : [last, ...perhaps.slice(0, mostTaken - 1)];
}

const takenOf = perPair((instead: Holding["instead"], after: ResourceSet): Holding["instead"] => {
  return new Map([...instead.keys()].map((key) => [key, ResourceSets.get(after, key)]));
});

/** The keys of all that the client blamed, now and before. */
export function faultyIn({ carried, blamed }: Rejection, { isWhole, faulty }: Holding): ReadonlySet<ResourceName> {
  if (blamed === undefined) return isWhole ? new Set() : faulty;
  const names = new Set(blamed);
  const now = carried.filter(({ name }) => names.has(name)).map(({ key }) => key);
  return new Set([...(isWhole ? [] : faulty), ...now]);
}

/**
 * What a client has not got because it was in a response that it rejected for another reason, by key: it is owed once the client accepts something else in the place of
 * what it rejected, or something later where it said what is at fault. Not before (rules 17, 100), and what is at fault only with another content.
 */
export function toSayAgain(
  subscriber: Subscriber,
  accepted: ReadonlySet<ResourceName>,
  onTheirWay: readonly Sent[],
): readonly ResourceName[] {
  const { instead, faulty, rejection, isWhole, held, subscription, type } = subscriber;
  if (isWhole || instead.size === 0 || rejection === undefined) return [];
  const said = new Set(accepted);
  // What was sent again before the rejection came is perhaps not in `instead`.
  const suspected = [...instead.keys(), ...rejection.carried.map(({ key }) => key)];
  const isAnother = rejection.blamed !== undefined || suspected.some((key) => said.has(key));
  if (!isAnother) return [];
  for (const sent of onTheirWay) for (const key of keysIn(sent)) said.add(key);
  const again: ResourceName[] = [];
  for (const key of instead.keys()) {
    if (said.has(key) || faulty.has(key)) continue;
    const resource = ResourceSets.get(held, key);
    const isAsked =
      resource === undefined
        ? type.absence === "removed" && (subscription.wildcard || subscription.names.has(key))
        : covers(subscription, resource);
    if (isAsked) again.push(key);
  }
  return again;
}
