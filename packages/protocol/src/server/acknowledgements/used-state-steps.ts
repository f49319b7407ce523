import type { Resource, ResourceName } from "@xdskit/api";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { sharedBranch } from "../../model/sets/shared-branch.js";
import { covers, type Subscription } from "../../model/subscribed/subscription.js";
import type { NumberedResponse } from "../state/exchange.js";
import {
  noKeys,
  noLastGood,
  noneTaken,
  type Rejection,
  type UsedState,
  usedState,
  usesAll,
} from "../state/used-state.js";
import { faultyIn, keysIn, lastGoodOf, perhapsTaken } from "./rejected.js";

/*
 * Computes a client's use after an answer, from its use before and the answer. Nothing here knows streams, numbers or
 * times.
 */

/** Keys of the contents that the client accepted, or everything for a full state. */
export type Accepted = ReadonlySet<ResourceName> | "everything";

/** The client uses `set`, except for contents that it rejected and did not accept since. */
export function using(used: UsedState, set: ResourceSet, accepted: Accepted, subscription: Subscription): UsedState {
  const left = isRejecting(used) ? forgiven(used, set, accepted, subscription) : used;
  if (left.rejection === undefined) return usesAll(set);
  const { rejection, lastGood, perhaps, faulty } = left;
  const usedSet = lastGood.size === 0 ? set : sharedBranch(set, lastGood);
  return usedState(usedSet, rejection, lastGood, perhaps, faulty);
}

export function isRejecting({ lastGood, rejection }: UsedState): boolean {
  return lastGood.size > 0 || rejection !== undefined;
}

/** The client rejected a response. `isWhole`: the response was a full state. */
export function rejecting(
  before: UsedState,
  response: NumberedResponse,
  rejection: Rejection,
  isWhole: boolean,
  subscription: Subscription,
): UsedState {
  const now = lastGoodOf(rejection, response, isWhole);
  const perhaps = perhapsTaken(before);
  const accepted = acceptedOf(response, rejection);
  const used = before.rejection === undefined ? before : forgiven(before, response.set, accepted, subscription);
  // If a key was rejected before, the later rejection decides what the client uses.
  const lastGood = used.lastGood.size === 0 || isWhole ? now : new Map([...used.lastGood, ...now]);
  // The same set for all clients that rejected the same.
  const hasNothing = rejection.before === undefined && !rejection.usesRest;
  const usedSet = hasNothing ? undefined : sharedBranch(response.set, lastGood);
  return usedState(usedSet, rejection, lastGood, perhaps, faultyIn(rejection, used.faulty, isWhole));
}

/** The keys of a rejected response that the client uses all the same. */
function acceptedOf(
  response: NumberedResponse,
  { usesRest, blamed = [], carried }: Rejection,
): ReadonlySet<ResourceName> {
  if (!usesRest) return noKeys;
  const faulty = new Set(blamed);
  const keys = new Set(keysIn(response));
  for (const { name, key } of carried) if (faulty.has(name)) keys.delete(key);
  return keys;
}

/**
 * Drops from `lastGood` the resources that the client accepted since, no longer asks for, or must have with another
 * content than the rejected one.
 */
export function forgiven(used: UsedState, set: ResourceSet, accepted: Accepted, subscription: Subscription): UsedState {
  const { set: usedSet, rejection, lastGood, perhaps, faulty } = used;
  const still = new Map<ResourceName, Resource | undefined>();
  if (accepted !== "everything" && rejection !== undefined) {
    for (const [key, good] of lastGood) {
      const rejected = ResourceSets.get(rejection.after, key);
      const current = ResourceSets.get(set, key);
      // If it rejected a removal, it uses the resource while it asks for it.
      const asked = current ?? good;
      const isAsked = asked === undefined || covers(subscription, asked);
      const isSame = current?.version === rejected?.version;
      if (isSame && isAsked && !accepted.has(key)) still.set(key, good);
    }
  }
  if (still.size === 0) return usedState(usedSet, undefined, noLastGood, noneTaken, noKeys);
  // The same map while its content is the same, so that a comparison by identity sees no change.
  const left = still.size < lastGood.size ? still : lastGood;
  const stillFaulty = new Set([...faulty].filter((key) => still.has(key)));
  return usedState(usedSet, rejection, left, perhaps, stillFaulty);
}
