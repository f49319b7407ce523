import { canonicalName, getOrInsert, globOf, type Reference, type ResourceType, type ResourceTypes } from "@xdskit/api";
import { isCollectionReference, type WatchedCollection } from "./upstream/upstream-types.js";

export interface PrefetchedNamesOptions {
  /** Those that are always asked for. */
  readonly collections: readonly WatchedCollection[];
  canAsk(type: ResourceType): boolean;
  /** Whether to ask for every named resource before a client does. */
  readonly prefetch: boolean;
}

/** Which names in resources come from the origin before a client asks for them. */
export interface PrefetchedNames {
  /** It comes with a collection that is always asked for. */
  isInCollection(reference: Reference): boolean;
  /** It is asked for as long as a resource names it. */
  isFollowed(reference: Reference): boolean;
}

export function createPrefetchedNames(
  { collections, canAsk, prefetch }: PrefetchedNamesOptions,
  types: ResourceTypes,
): PrefetchedNames {
  /** By type URL. */
  const asked = new Map<string, Set<string>>();
  for (const { type, name } of collections) getOrInsert(asked, type.typeUrl, () => new Set()).add(canonicalName(name));
  return {
    isInCollection: ({ type, name }) => asked.get(type)?.has(globOf(name) ?? "*") === true,
    isFollowed(reference) {
      const type = types.byTypeUrl(reference.type)?.type;
      if (type === undefined || !canAsk(type)) return false;
      // It comes in any case, and stays when nothing names it any more.
      const names = asked.get(reference.type);
      if (names?.has("*") || names?.has(globOf(reference.name) ?? canonicalName(reference.name))) return false;
      if (isCollectionReference(reference)) return true;
      // Only requests tell the names of virtual hosts.
      return prefetch && !reference.name.endsWith("/*");
    },
  };
}
