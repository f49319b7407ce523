import { canonicalName, type Resource, type ResourceName } from "@xdskit/api";
import { changeBetween } from "../../model/change.js";
import { mostWays } from "../../model/limits.js";
import { PerKey, perPair } from "../../model/memo.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import { sharedBranch } from "../../model/shared-branch.js";
import { covers } from "../../model/subscription.js";
import type { LastGood, Rejection, Sent, UsedState } from "../state/client-use.js";
import type { Subscriber } from "../state/subscriber.js";

/*
 * What a client has after it rejected a response (NACK). What it uses, and what it must be sent again, depends on what
 * it says of the response: an Envoy that names one bad cluster uses the others (`usesRest`), a client that says nothing
 * may use all, a part or nothing. What is worked out here is shared by all clients that rejected the same.
 */

/** The keys of all that a response brought or removed. */
export function keysIn({ carried, removed }: Sent): ReadonlySet<ResourceName> {
  return new Set([...carried.map(({ key }) => key), ...removed.map(canonicalName)]);
}

const knownNew = new WeakMap<readonly Resource[], WeakMap<LastGood, readonly Resource[]>>();

/**
 * The resources of a response that the client was not using: those that are new to it, and those that a full state
 * repeats though they were rejected before.
 */
export function newIn({ isWhole, used: { lastGood } }: Subscriber, { carried, set }: Sent): readonly Resource[] {
  if (!isWhole || lastGood.size === 0) return carried;
  let known = knownNew.get(carried);
  if (known === undefined) {
    known = new WeakMap();
    knownNew.set(carried, known);
  }
  let found = known.get(lastGood);
  if (found === undefined) {
    const repeated = [...lastGood.keys()].map((key) => ResourceSets.get(set, key));
    found = [...new Set([...carried, ...repeated.filter((resource) => resource !== undefined)])];
    known.set(lastGood, found);
  }
  return found;
}

const knownInstead = new PerKey<readonly Resource[], LastGood>(mostWays);

/** By key, what a client uses instead of what it rejected: the same map for all clients that rejected the same. */
export function lastGoodOf(rejection: Rejection, sent: Sent, isWhole: boolean): LastGood {
  const { before, after, carried, blamed = [], usesRest } = rejection;
  const key = `${before && ResourceSets.id(before)} ${ResourceSets.id(after)} ${usesRest ? blamed.join(" ") : "?"}`;
  const known = knownInstead.get(carried, key);
  if (known !== undefined) return known;
  const faulty = new Set(blamed);
  const keys = carried.filter(({ name }) => !usesRest || faulty.has(name)).map(({ key }) => key);
  // Where it may not use what the response carried, it may not have carried out its removals either.
  if (!usesRest) keys.push(...removedBy(sent, before, isWhole));
  const instead = new Map(keys.map((key) => [key, before && ResourceSets.get(before, key)]));
  return knownInstead.set(carried, key, instead);
}

/** The keys of what a client used and a response removed: a full state does so by leaving it out. */
function removedBy({ removed, set }: Sent, before: ResourceSet | undefined, isWhole: boolean): readonly ResourceName[] {
  if (before === undefined) return [];
  if (isWhole) return changeBetween(before, set).removed.map(({ key }) => key);
  return removed.map(canonicalName).filter((key) => ResourceSets.get(before, key) !== undefined);
}

/**
 * The sets that a client uses if, all the same, it took what it rejected: of the last response, unless it said what it
 * did not take, and of those before. Each is what it uses now with that laid over it, since what it did not reject may
 * have changed since.
 */
export function perhapsUsed(subscriber: Subscriber): readonly ResourceSet[] {
  const {
    sent: { set: sentSet },
    used: { acked, lastGood, rejection },
  } = subscriber;
  if (rejection === undefined) return noSets;
  return perhapsTaken(subscriber.used).map((taken) => {
    const still = [...taken].filter(([key]) => lastGood.has(key));
    return sharedBranch(acked ?? sentSet, still.length === taken.size ? taken : new Map(still));
  });
}

const noSets: readonly ResourceSet[] = [];

/** How many rejections in a row are remembered: more matter only of clients that take another part each time. */
const mostTaken = 8;

/** By key, what the client may have taken of each of the responses that it rejected, the last one first. */
export function perhapsTaken({ lastGood, rejection, perhaps }: UsedState): UsedState["perhaps"] {
  if (rejection === undefined || rejection.usesRest) return perhaps;
  const last = takenOf(lastGood, rejection.after);
  return perhaps.length === 0 ? [last] : [last, ...perhaps.slice(0, mostTaken - 1)];
}

const takenOf = perPair((instead: LastGood, after: ResourceSet): LastGood => {
  return new Map([...instead.keys()].map((key) => [key, ResourceSets.get(after, key)]));
});

/**
 * The keys of what the client named as faulty, now and before; of a full state only now, since that holds everything.
 */
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
 * The keys of what a client did not get only because it was in a response with something faulty, and what it is to be
 * sent again. That is so once the client accepted another content of something that it rejected, or, where it named
 * what is faulty, anything later. Not before (rules 17, 100); and what is faulty is sent with another content only.
 */
export function toSendAgain(
  subscriber: Subscriber,
  accepted: ReadonlySet<ResourceName>,
  inFlight: readonly Sent[],
): readonly ResourceName[] {
  const {
    isWhole,
    subscription,
    type,
    sent: { set: sentSet },
    used: { lastGood, faulty, rejection },
  } = subscriber;
  if (isWhole || lastGood.size === 0 || rejection === undefined) return [];
  const said = new Set(accepted);
  // What was sent again before the rejection came is perhaps not in `instead`.
  const suspected = [...lastGood.keys(), ...rejection.carried.map(({ key }) => key)];
  const isAnother = rejection.blamed !== undefined || suspected.some((key) => said.has(key));
  if (!isAnother) return [];
  for (const sent of inFlight) for (const key of keysIn(sent)) said.add(key);
  const again: ResourceName[] = [];
  for (const key of lastGood.keys()) {
    if (said.has(key) || faulty.has(key)) continue;
    const resource = ResourceSets.get(sentSet, key);
    const isAsked =
      resource === undefined
        ? type.absence === "removed" && (subscription.wildcard || subscription.names.has(key))
        : covers(subscription, resource);
    if (isAsked) again.push(key);
  }
  return again;
}
