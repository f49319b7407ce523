import type { Resource, ResourceName, ResourceType, Version } from "@xdskit/api";
import { changeBetween } from "../../model/change.js";
import { BoundedCache } from "../../model/memo.js";
import { addFingerprints, emptyFingerprint, fingerprintOf, formatFingerprint } from "../../model/names/fingerprint.js";
import { NameSet } from "../../model/names/name-set.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import { concerns, type Subscription } from "../../model/subscription.js";
import { knowsVariants } from "../../model/variants.js";
import { subscribed } from "../state/find.js";
import { nextSotwSubscription } from "../state/sotw-subscription.js";

/** What of a set is asked for, with a version of its own: what a client without a stream can be up to date with. */
export interface Selection {
  /**
   * The sum over the names and versions of the resources in it, whatever their order: every replica and every restart
   * computes the same one, and a change of what was not asked for leaves it as it is. All of a set has the set's
   * version.
   */
  readonly version: Version;
  /** Each once; names that do not exist are left out. */
  readonly resources: Iterable<Resource>;
  readonly size: number;
  /** Equal for selections of the same set by equal names. No other selection has it, whoever chooses the contents. */
  readonly key: string;
}

/**
 * What one request without a stream asks for, by names in canonical form. There is no history: no names mean what they
 * mean in a first request (rules 38, 76 and the choice for a first `[]`), and `*` is the wildcard for every type.
 */
export function selectionOf(names: readonly ResourceName[], type: ResourceType): Subscription {
  return nextSotwSubscription(undefined, NameSet.of(names), type, "v3");
}

/** Weighed by the names in them; sixteen characters of a key, which holds a client's parameters, are one more. */
const selections = new BoundedCache<Selection>(200_000);

/** Selects from a set; worked out once for all who ask for the same. */
export function select(set: ResourceSet, subscription: Subscription): Selection {
  const { wildcard, names, parameters = "" } = subscription;
  const id = ResourceSets.id(set);
  // What is named beside the wildcard adds nothing, unless names come in variants.
  if (wildcard && !knowsVariants(set, subscription)) {
    return { version: set.version, resources: set, size: set.size, key: `${id} *` };
  }
  const key = `${id} ${wildcard ? "*" : ""}${names.id} ${parameters}`;
  let selection = selections.get(key);
  if (selection === undefined) {
    const resources = subscribed(subscription, set);
    // As sets do.
    let fingerprint = emptyFingerprint;
    for (const { key, version } of resources) fingerprint = addFingerprints(fingerprint, fingerprintOf(key, version));
    selection = { version: formatFingerprint(fingerprint), resources, size: resources.length, key };
    selections.set(key, selection, 10 + names.size + resources.length + (key.length >> 4));
  }
  return selection;
}

/**
 * Whether what is selected from two sets may differ, as is quickly seen: most who ask by name are not concerned by most
 * changes.
 */
export function mayDiffer(subscription: Subscription, from: ResourceSet, to: ResourceSet): boolean {
  if (from === to) return false;
  // One name is looked up as quickly.
  if (subscription.wildcard || subscription.names.size < fewNames) return true;
  if (knowsVariants(from, subscription) || knowsVariants(to, subscription)) return true;
  const { differences } = changeBetween(from, to);
  if (differences.size > subscription.names.size) return true;
  for (const difference of differences.values()) if (concerns(subscription, difference)) return true;
  return false;
}

const fewNames = 4;

/** Whether a version looks like one that this server, another replica of it or an earlier run made. */
export function isSetVersion(version: Version): boolean {
  return /^[0-9a-f]{16}$/.test(version);
}
