import type { ResourceName, ResourceType } from "@xdskit/api";

/**
 * Types that are asked for as a whole, and whose content neither the origin nor a sound cache has given yet. Clients
 * must not hear that there is nothing: those that come back would drop their resources.
 */
export type AwaitedTypes = ReturnType<typeof createAwaitedTypes>;

/** `isDamaged`: the type had a file that was not complete. `changed` is told of all awaited types. */
export function createAwaitedTypes(
  isDamaged: (type: ResourceType) => boolean,
  changed: (types: Iterable<ResourceType>) => void,
) {
  const awaited = new Map<ResourceType, Set<ResourceName>>();
  let allKnown = () => {};
  const known = new Promise<void>((resolve) => {
    allKnown = resolve;
  });
  const tell = () => {
    changed(awaited.keys());
    if (awaited.size === 0) allKnown();
  };
  return {
    /** Resolves once everything is known. */
    known,
    get isEmpty(): boolean {
      return awaited.size === 0;
    },
    has: (type: ResourceType): boolean => awaited.has(type),
    /** A collection without known content is asked for. */
    add(type: ResourceType, collection: ResourceName) {
      const names = awaited.get(type) ?? new Set();
      awaited.set(type, names.add(collection));
      if (names.size === 1) tell();
    },
    /** The content of a collection is known, or it is not asked for any more. */
    delete(type: ResourceType, collection: ResourceName) {
      const names = awaited.get(type);
      if (names?.delete(collection) !== true || names.size > 0) return;
      awaited.delete(type);
      tell();
    },
    /**
     * The origin answered for other types, and no more answers will come: the types without an answer are empty. Except
     * those whose file on disk was damaged: they were not empty.
     */
    fallSilent() {
      for (const type of [...awaited.keys()]) if (!isDamaged(type)) awaited.delete(type);
      tell();
    },
  };
}
