import { perObject, type Reference, type Resource, type ResourceName } from "@xdskit/api";
import { PerKey, perPair } from "../basics/memo.js";
import { fingerprintOf } from "../names/fingerprint.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";
import { hasContent } from "./unknown-content.js";

type BranchChanges = ReadonlyMap<ResourceName, Resource | undefined>;

const known = new PerKey<ResourceSet, ResourceSet>();

/**
 * The branch of a set with these changes: the same object whenever the changes are equal. Sets are compared by
 * identity, so a stage that is worked out again with an equal result moves no stream. The same map, which must not
 * change, costs a lookup; another map with equal entries costs its size.
 */
export function sharedBranch(set: ResourceSet, changes: BranchChanges): ResourceSet {
  return branchBy(changes, set);
}

const branchBy = perPair((changes: BranchChanges, set: ResourceSet): ResourceSet => {
  const words = Array.from(changes, ([key, resource]) => JSON.stringify([key, ...contentOf(resource)]));
  const key = words.sort().join();
  return known.get(set, key) ?? known.set(set, key, ResourceSets.branch(set, changes));
});

/** Tells contents apart. Two clients may have the same unknown content, and differ in what it may name. */
function contentOf(resource: Resource | undefined): readonly unknown[] {
  if (resource === undefined) return [null];
  return hasContent(resource) ? [resource.version] : [resource.version, keyOfNames(resource.references)];
}

/** Unknown contents share their references, of which there may be many. */
const keyOfNames = perObject((references: readonly Reference[]): string => {
  const { high, low } = fingerprintOf(JSON.stringify(references));
  return `${references.length} ${high} ${low}`;
});
