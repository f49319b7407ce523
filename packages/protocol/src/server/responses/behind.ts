import type { ResourceName } from "@xdskit/api";
import { perPair } from "../../model/basics/memo.js";
import { nameOf } from "../../model/names/locator.js";
import type { NameSet } from "../../model/names/name-set.js";
import { type Change, changeBetween } from "../../model/sets/change.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import type { Subscription } from "../../model/subscribed/subscription.js";
import { knowsVariants, variantChange } from "../../model/subscribed/variants.js";
import { find } from "../state/find.js";
import { concerning } from "./content.js";
import { select } from "./selection.js";

/**
 * The number of a client's requested resources that differ between two sets. Costs the number of differences, once for
 * all clients that ask for the same. For sets of different lineages it costs the size of both sets, once.
 */
export function countDifferences(subscription: Subscription, from: ResourceSet, to: ResourceSet): number {
  if (from === to) return 0;
  if (from.size === 0) return select(to, subscription).size;
  if (to.size === 0) return select(from, subscription).size;
  const change = changeBetween(from, to);
  if (knowsVariants(from, subscription) || knowsVariants(to, subscription)) {
    const { fresh, gone } = variantChange(from, to, change, subscription);
    return fresh.length + gone.length;
  }
  const { wildcard, names } = subscription;
  return wildcard ? change.differences.size : countNamed(change, names);
}

const countNamed = perPair((change: Change, names: NameSet): number => {
  let count = 0;
  for (const _ of concerning({ wildcard: false, names }, change)) count += 1;
  return count;
});

/** The names that a client asks for and a set does not have, without parameters, each once. */
export function missingNames({ names }: Subscription, set: ResourceSet): readonly ResourceName[] {
  const missing = new Set<ResourceName>();
  for (const name of names) if (find(set, name).length === 0) missing.add(nameOf(name));
  return [...missing];
}
