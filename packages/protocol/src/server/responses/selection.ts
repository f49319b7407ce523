import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { BoundedCache } from "../../model/basics/memo.js";
import { addFingerprints, emptyFingerprint, fingerprintOf, formatFingerprint } from "../../model/names/fingerprint.js";
import { NameSet } from "../../model/names/name-set.js";
import { changeBetween } from "../../model/sets/change.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import { concerns, type Subscription } from "../../model/subscribed/subscription.js";
import { knowsVariants } from "../../model/subscribed/variants.js";
import { subscribed } from "../state/find.js";
import { nextSotwSubscription } from "../state/sotw-subscription.js";

/**
 * The part of a set that a request asks for, with its own version. A client without a stream compares that version.
 */
export interface Selection {
  /**
   * The sum over the names and versions of its resources, in any order. Every replica and every restart computes the
   * same version, and changes of other resources leave it as it is. A selection of a whole set has the set's version.
   */
  readonly version: Version;
  /** Each resource once; names that do not exist are left out. */
  readonly resources: Iterable<Resource>;
  readonly size: number;
  /** Equal for selections of the same set by equal names. No other selection has it, even with hostile contents. */
  readonly key: string;
}

/**
 * The subscription of one request without a stream, by names in canonical form. There is no history: no names mean the
 * same as in a first request (rules 38, 76 and the choice for a first `[]`), and `*` is the wildcard for every type.
 */
export function selectionOf(names: readonly ResourceName[], type: ResourceType): Subscription {
  return nextSotwSubscription(undefined, NameSet.of(names), type, "v3");
}

/**
 * An entry weighs one for each name in it, and one for every sixteen characters of its key, which holds a client's
 * parameters.
 */
const selections = new BoundedCache<Selection>(200_000);

/** Selects from a set; worked out once for all requests for the same. */
export function select(set: ResourceSet, subscription: Subscription): Selection {
  const { wildcard, names, parameters = "" } = subscription;
  const id = ResourceSets.id(set);
  // Names beside the wildcard add nothing, unless there are variants.
  if (wildcard && !knowsVariants(set, subscription)) {
    return { version: set.version, resources: set, size: set.size, key: `${id} *` };
  }
  const key = `${id} ${wildcard ? "*" : ""}${names.id} ${parameters}`;
  let selection = selections.get(key);
  if (selection === undefined) {
    const resources = subscribed(subscription, set);
    // The same sum as for sets.
    let fingerprint = emptyFingerprint;
    for (const { key, version } of resources) fingerprint = addFingerprints(fingerprint, fingerprintOf(key, version));
    selection = { version: formatFingerprint(fingerprint), resources, size: resources.length, key };
    selections.set(key, selection, 10 + names.size + resources.length + (key.length >> 4));
  }
  return selection;
}

/** Whether the selections from two sets may differ: a fast check. Most changes do not concern most requests by name. */
export function mayDiffer(subscription: Subscription, from: ResourceSet, to: ResourceSet): boolean {
  if (from === to) return false;
  if (subscription.wildcard) return true;
  if (knowsVariants(from, subscription) || knowsVariants(to, subscription)) return true;
  const { differences } = changeBetween(from, to);
  if (differences.size > subscription.names.size) return true;
  for (const difference of differences.values()) if (concerns(subscription, difference)) return true;
  return false;
}

/** Whether a version looks like one that this server, a replica or an earlier run made. */
export function isSetVersion(version: Version): boolean {
  return /^[0-9a-f]{16}$/.test(version);
}
