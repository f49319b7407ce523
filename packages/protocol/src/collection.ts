import { isCollection, type Resource, type ResourceName, refersTo } from "@xdskit/api";
import type { ResourceSet } from "./resource-set.js";

/**
 * A name such as `xdstp://authority/type/path/*`, which stands for all resources below it: how Envoy asks for the endpoints of a locality (LEDS;
 * Envoy on the wire, 12). Names of the old style have no collections: a virtual host may well be called `routes/*`.
 */
export function isCollectionName(name: ResourceName): boolean {
  return name.startsWith("xdstp:") && name.includes("/*") && isCollection({ type: "", name });
}

export function isMember(collection: ResourceName, { type, name }: Resource): boolean {
  return refersTo({ type: type.typeUrl, name: collection }, type.typeUrl, name);
}

const known = new WeakMap<ResourceSet, Map<ResourceName, readonly Resource[]>>();

/** The members of a collection; looked for once in each set. */
export function membersOf(set: ResourceSet, collection: ResourceName): readonly Resource[] {
  let collections = known.get(set);
  if (collections === undefined) {
    collections = new Map();
    known.set(set, collections);
  }
  let members = collections.get(collection);
  if (members === undefined) {
    members = [...set].filter((resource) => isMember(collection, resource));
    collections.set(collection, members);
  }
  return members;
}
