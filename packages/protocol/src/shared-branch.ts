import type { Resource, ResourceName } from "@xdskit/api";
import { PerKey } from "./per-key.js";
import { perPair } from "./per-pair.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";

type Changes = ReadonlyMap<ResourceName, Resource | undefined>;

/** Branches of one set that are remembered by what they change: only clients that leave it in ever new ways make more. */
const mostBranches = 1_000;

const known = new PerKey<ResourceSet, ResourceSet>(mostBranches);

/**
 * The branch of a set with these changes: the same object whenever they are the same. Sets are compared by identity, and so a stage that is worked out again with the same result
 * brings no stream to something new. The same map, which must not change, costs a lookup; another one with the same entries costs its size.
 */
export function sharedBranch(set: ResourceSet, changes: Changes): ResourceSet {
  return branchBy(changes, set);
}

const branchBy = perPair((changes: Changes, set: ResourceSet): ResourceSet => {
  const words = Array.from(changes, ([key, resource]) => JSON.stringify([key, resource?.version ?? null]));
  const key = words.sort().join();
  return known.get(set, key) ?? known.set(set, key, ResourceSets.branch(set, changes));
});
