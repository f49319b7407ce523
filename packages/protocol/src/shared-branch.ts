import type { Resource, ResourceName } from "@xdskit/api";
import { perPair } from "./per-pair.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";

type Changes = ReadonlyMap<ResourceName, Resource | undefined>;

const knownByWords = new WeakMap<ResourceSet, Map<string, ResourceSet>>();

/** Branches of one set that are remembered by what they change: only clients that leave it in ever new ways make more. */
const mostBranches = 1_000;

/**
 * The branch of a set with these changes: the same object whenever they are the same. Sets are compared by identity, and so a stage that is worked out again with the same result
 * brings no stream to something new. The same map, which must not change, costs a lookup; another one with the same entries costs its size.
 */
export function sharedBranch(set: ResourceSet, changes: Changes): ResourceSet {
  return branchBy(changes, set);
}

const branchBy = perPair((changes: Changes, set: ResourceSet): ResourceSet => {
  const branches = knownByWords.get(set) ?? new Map<string, ResourceSet>();
  knownByWords.set(set, branches);
  const words = Array.from(changes, ([key, resource]) => JSON.stringify([key, resource?.version ?? null]));
  const key = words.sort().join();
  let branch = branches.get(key);
  if (branch === undefined) {
    if (branches.size >= mostBranches) branches.clear();
    branch = ResourceSets.branch(set, changes);
    branches.set(key, branch);
  }
  return branch;
});
