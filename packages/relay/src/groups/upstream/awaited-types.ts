import { canonicalName, deferred, type ResourceName, type ResourceType } from "@xdskit/api";
import type { WatchedCollection } from "./upstream-types.js";

/**
 * Types that are asked for as a whole, and whose content neither the origin nor a sound cache has given yet. Clients
 * must not hear that there is nothing: those that come back would drop their resources.
 */
export interface AwaitedTypes {
  /** Resolves once everything is known. */
  readonly known: Promise<void>;
  readonly isEmpty: boolean;
  has(type: ResourceType): boolean;
  /** A collection without known content is asked for. */
  add(type: ResourceType, collection: ResourceName): void;
  /** The content of a collection is known, or it is not asked for any more. */
  delete(type: ResourceType, collection: ResourceName): void;
  /** A start asks for these, and for nothing else without known content. */
  begin(collections: readonly WatchedCollection[]): void;
  /** The origin answered with an error, so its silence later does not tell that the collection is empty. */
  failed(type: ResourceType, collection: ResourceName): void;
  /** A stream for the type, or for all, is up: an error on the one before says nothing about it. */
  connected(type: ResourceType | undefined): void;
  /** The origin does not know the type. Returns whether it counts as empty now, although the origin did not say so. */
  notOffered(type: ResourceType): boolean;
  /**
   * The collections for which `isSilent` is true are empty. Except those of types whose file on disk was damaged:
   * they were not empty. Returns the types that count as empty now.
   */
  fallSilent(isSilent: (type: ResourceType, collection: ResourceName) => boolean): readonly ResourceType[];
}

/** `damaged`: types with a file that was not complete. `onChanged` is told of all awaited types. */
export function createAwaitedTypes(
  damaged: ReadonlySet<ResourceType>,
  onChanged: (types: Iterable<ResourceType>) => void,
): AwaitedTypes {
  /** By type: each collection, and whether the origin answered with an error. */
  const awaited = new Map<ResourceType, Map<ResourceName, boolean>>();
  const { promise: known, resolve: allKnown } = deferred();
  const tell = () => {
    onChanged(awaited.keys());
    if (awaited.size === 0) allKnown();
  };
  function add(type: ResourceType, collection: ResourceName): void {
    const names = awaited.get(type) ?? new Map<ResourceName, boolean>();
    awaited.set(type, names.set(canonicalName(collection), false));
    if (names.size === 1) tell();
  }

  return {
    known,
    get isEmpty(): boolean {
      return awaited.size === 0;
    },
    has: (type: ResourceType): boolean => awaited.has(type),
    add,
    delete(type: ResourceType, collection: ResourceName) {
      const names = awaited.get(type);
      if (names?.delete(canonicalName(collection)) !== true || names.size > 0) return;
      awaited.delete(type);
      tell();
    },
    begin(collections: readonly WatchedCollection[]) {
      for (const { type, name } of collections) add(type, name);
      if (awaited.size === 0) allKnown();
    },
    failed(type: ResourceType, collection: ResourceName) {
      const names = awaited.get(type);
      const name = canonicalName(collection);
      if (names?.has(name) === true) names.set(name, true);
    },
    connected(type: ResourceType | undefined) {
      for (const [each, names] of awaited)
        if (type === undefined || each === type) for (const name of names.keys()) names.set(name, false);
    },
    notOffered(type: ResourceType): boolean {
      if (damaged.has(type) || !awaited.delete(type)) return false;
      tell();
      return true;
    },
    fallSilent(isSilent: (type: ResourceType, collection: ResourceName) => boolean): readonly ResourceType[] {
      const found: ResourceType[] = [];
      for (const [type, names] of awaited) {
        if (damaged.has(type)) continue;
        for (const [name, isFailing] of names) if (!isFailing && isSilent(type, name)) names.delete(name);
        if (names.size > 0) continue;
        awaited.delete(type);
        found.push(type);
      }
      if (found.length > 0) tell();
      return found;
    },
  };
}
