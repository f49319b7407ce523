import { isCollection, type Resource, type ResourceName } from "@xdskit/api";
import type { ResourceSet } from "./resource-set.js";

const scheme = "xdstp:";

/**
 * A name such as `xdstp://authority/type/path/*`, which stands for all resources below it: how Envoy asks for the endpoints of a locality (LEDS;
 * Envoy on the wire, 12). Names of the old style have no collections: a virtual host may well be called `routes/*`.
 */
export function isCollectionName(name: ResourceName): boolean {
  return name.startsWith(scheme) && name.includes("/*") && isCollection({ type: "", name });
}

/** What a collection's name comes down to: equal for names with the same members. */
export function collectionKey(collection: ResourceName): string {
  const { path, parameters } = partsOf(collection);
  return `${path.slice(0, -1)}?${parameters}`;
}

/** The keys of all collections that a name can be in. Clients choose the collections: members look for them, not they for members. */
export function* collectionKeysOf(name: ResourceName): Iterable<string> {
  if (!name.startsWith(scheme)) return;
  const { path, parameters } = partsOf(name);
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    yield `${path.slice(0, slash + 1)}?${parameters}`;
  }
}

const known = new WeakMap<ResourceSet, ReadonlyMap<string, readonly Resource[]>>();

/** The members of a collection. All collections of a set are found at once, the first time that anybody asks for one. */
export function membersOf(set: ResourceSet, collection: ResourceName): readonly Resource[] {
  let collections = known.get(set);
  if (collections === undefined) {
    collections = collectionsOf(set);
    known.set(set, collections);
  }
  return collections.get(collectionKey(collection)) ?? none;
}

function collectionsOf(set: ResourceSet): ReadonlyMap<string, readonly Resource[]> {
  const collections = new Map<string, Resource[]>();
  for (const resource of set) {
    for (const key of collectionKeysOf(resource.name)) {
      const members = collections.get(key);
      if (members === undefined) collections.set(key, [resource]);
      else members.push(resource);
    }
  }
  return collections;
}

const none: readonly Resource[] = [];

function partsOf(name: ResourceName): { readonly path: string; readonly parameters: string } {
  const [path = "", parameters = ""] = name.split("?", 2);
  return { path, parameters: parameters.split("&").sort().join("&") };
}
