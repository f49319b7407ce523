import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { maxAlternatives, maxTransitions } from "../../model/basics/limits.js";
import { PerKey, perPair } from "../../model/basics/memo.js";
import { changeBetween } from "../../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { sharedBranch } from "../../model/sets/shared-branch.js";
import { covers } from "../../model/subscribed/subscription.js";
import type { NumberedResponse } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";
import type { LastGood, Rejection, UsedState } from "../state/used-state.js";

/*
 * The state of a client after it rejected a response (NACK). Its message decides which contents it uses and which must
 * be sent again. An Envoy that names one bad cluster uses the others (`usesRest`). A client that names nothing may use
 * all, a part or nothing. All clients with the same rejection share the results.
 */

/** The keys of everything that a response brought or removed. */
export function keysIn({ carried, removed }: NumberedResponse): ReadonlySet<ResourceName> {
  return new Set([...carried.map(({ key }) => key), ...removed.map(canonicalName)]);
}

/**
 * The resources of a response that the client was not using: the new ones, and those that it rejected before and that a
 * full state repeats.
 */
export function newIn(
  { isWhole, used: { lastGood } }: Subscriber,
  { carried, set }: NumberedResponse,
): readonly Resource[] {
  return !isWhole || lastGood.size === 0 ? carried : withoutTwice(carried, repeatedIn(lastGood, set));
}

const repeatedIn = perPair((lastGood: LastGood, set: ResourceSet): readonly Resource[] =>
  [...lastGood.keys()].map((key) => ResourceSets.get(set, key)).filter((resource) => resource !== undefined),
);

const withoutTwice = perPair((some: readonly Resource[], others: readonly Resource[]): readonly Resource[] => [
  ...new Set([...some, ...others]),
]);

const knownLastGood = new PerKey<readonly Resource[], LastGood>(maxTransitions);

/**
 * By key, the contents that a client uses in place of rejected ones: the same map for all clients with the same
 * rejection.
 */
export function lastGoodOf(rejection: Rejection, response: NumberedResponse, isWhole: boolean): LastGood {
  const { before, after, carried, blamed = [], usesRest } = rejection;
  const key = `${before && ResourceSets.id(before)} ${ResourceSets.id(after)} ${usesRest ? blamed.join(" ") : "?"}`;
  const known = knownLastGood.get(carried, key);
  if (known !== undefined) return known;
  const faulty = new Set(blamed);
  const keys = carried.filter(({ name }) => !usesRest || faulty.has(name)).map(({ key }) => key);
  // If the client may not use the contents of the response, it may not have made its removals either.
  if (!usesRest) keys.push(...removedBy(response, before, isWhole));
  const lastGood = new Map(keys.map((key) => [key, before && ResourceSets.get(before, key)]));
  return knownLastGood.set(carried, key, lastGood);
}

/**
 * The keys of resources that a client used and a response removed. A full state removes a resource by leaving it out.
 */
function removedBy(
  { removed, set }: NumberedResponse,
  before: ResourceSet | undefined,
  isWhole: boolean,
): readonly ResourceName[] {
  if (before === undefined) return [];
  if (isWhole) return changeBetween(before, set).removed.map(({ key }) => key);
  return removed.map(canonicalName).filter((key) => ResourceSets.get(before, key) !== undefined);
}

/**
 * The sets that a client may be using if it took contents that it rejected: one for the last response, unless the
 * client named the resources that it did not take, and one for each response before. Each is the set that it uses now,
 * with those contents laid over it, since the rest may have changed since.
 */
export function perhapsUsed(subscriber: Subscriber): readonly ResourceSet[] {
  const {
    sent: { set: sentSet },
    used: { set: usedSet, lastGood, rejection },
  } = subscriber;
  if (rejection === undefined) return noSets;
  return perhapsTaken(subscriber.used).map((taken) => {
    const still = [...taken].filter(([key]) => lastGood.has(key));
    return sharedBranch(usedSet ?? sentSet, still.length === taken.size ? taken : new Map(still));
  });
}

const noSets: readonly ResourceSet[] = [];

/** By key, the contents that the client may have used of each response that it rejected, the last one first. */
export function perhapsTaken({ lastGood, rejection, perhaps }: UsedState): UsedState["perhaps"] {
  if (rejection === undefined || rejection.usesRest) return perhaps;
  const last = takenOf(lastGood, rejection.after);
  // More rejections in a row matter only if a client takes another part each time.
  return perhaps.length === 0 ? [last] : [last, ...perhaps.slice(0, maxAlternatives - 1)];
}

const takenOf = perPair((lastGood: LastGood, after: ResourceSet): LastGood => {
  return new Map([...lastGood.keys()].map((key) => [key, ResourceSets.get(after, key)]));
});

/** The keys that the client named as faulty, now and before. For a full state only now, since that holds everything. */
export function faultyIn(
  { carried, blamed }: Rejection,
  faulty: ReadonlySet<ResourceName>,
  isWhole: boolean,
): ReadonlySet<ResourceName> {
  if (blamed === undefined) return isWhole ? new Set() : faulty;
  const names = new Set(blamed);
  const now = carried.filter(({ name }) => names.has(name)).map(({ key }) => key);
  return new Set([...(isWhole ? [] : faulty), ...now]);
}

/**
 * The keys that must be sent again: the client did not use them only because they came with something faulty. They are
 * due once the client accepts another content of something that it rejected, or anything later if it named the faulty
 * resources. They are not due before (rules 17, 100). A faulty resource is sent only with another content.
 */
export function toSendAgain(
  subscriber: Subscriber,
  accepted: ReadonlySet<ResourceName>,
  inFlight: readonly NumberedResponse[],
): readonly ResourceName[] {
  const {
    isWhole,
    subscription,
    type,
    sent: { set: sentSet },
    used: { lastGood, faulty, rejection },
  } = subscriber;
  if (isWhole || lastGood.size === 0 || rejection === undefined) return [];
  const explained = new Set(accepted);
  // A resource that was sent again before the rejection came may be missing in `lastGood`.
  const suspected = [...lastGood.keys(), ...rejection.carried.map(({ key }) => key)];
  const isAnother = rejection.blamed !== undefined || suspected.some((key) => explained.has(key));
  if (!isAnother) return [];
  for (const response of inFlight) for (const key of keysIn(response)) explained.add(key);
  const again: ResourceName[] = [];
  for (const key of lastGood.keys()) {
    if (explained.has(key) || faulty.has(key)) continue;
    const resource = ResourceSets.get(sentSet, key);
    const isAsked =
      resource === undefined
        ? type.absence === "removed" && (subscription.wildcard || subscription.names.has(key))
        : covers(subscription, resource);
    if (isAsked) again.push(key);
  }
  return again;
}
