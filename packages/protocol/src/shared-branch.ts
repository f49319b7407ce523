import type { Resource, ResourceName } from "@xdskit/api";
import { type ResourceSet, ResourceSets } from "./resource-set.js";

const known = new WeakMap<ResourceSet, Map<string, ResourceSet>>();

/** Branches of one set that are remembered: more only of a set that clients leave in ever new ways. */
const mostBranches = 1_000;

/**
 * The branch of a set with these changes: the same one whenever they are the same. What is compared by identity stays as it is then: a stage that is worked
 * out again is no other, and brings no stream to something new.
 */
export function sharedBranch(set: ResourceSet, changes: ReadonlyMap<ResourceName, Resource | undefined>): ResourceSet {
  const branches = known.get(set) ?? new Map<string, ResourceSet>();
  known.set(set, branches);
  const words = Array.from(changes, ([key, resource]) => JSON.stringify([key, resource?.version ?? null]));
  const key = words.sort().join();
  let branch = branches.get(key);
  if (branch === undefined) {
    if (branches.size >= mostBranches) branches.clear();
    branch = ResourceSets.branch(set, changes);
    branches.set(key, branch);
  }
  return branch;
}
