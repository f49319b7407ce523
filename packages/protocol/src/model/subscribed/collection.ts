import { globOf, isGlobName, perObject, type Resource, type ResourceName } from "@xdskit/api";
import type { ResourceSet } from "../sets/resource-set.js";

/*
 * A name such as `xdstp://authority/type/path/*` stands for all resources in that directory (xRFC TP1, "Glob"). Envoy
 * asks for the endpoints of a locality in this way (LEDS; Envoy on the wire, 12), and may ask for listeners and
 * clusters. Names of the old style have no collections: a virtual host may be called `routes/*`. All names here are
 * canonical, so the order of context parameters does not matter.
 */

/** The members of a collection. The first call finds all collections of a set at once. */
export function membersOf(set: ResourceSet, collection: ResourceName): readonly Resource[] {
  if (!isGlobName(collection)) return none;
  return collectionsOf(set).get(collection) ?? none;
}

const collectionsOf = perObject((set: ResourceSet): ReadonlyMap<ResourceName, readonly Resource[]> => {
  const collections = new Map<ResourceName, Resource[]>();
  for (const resource of set) {
    const glob = globOf(resource.name);
    if (glob === undefined) continue;
    const members = collections.get(glob);
    if (members === undefined) collections.set(glob, [resource]);
    else members.push(resource);
  }
  return collections;
});

const none: readonly Resource[] = [];
