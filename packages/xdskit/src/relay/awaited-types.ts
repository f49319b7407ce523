import type { ResourceName, ResourceType } from "@xdskit/api";

/**
 * The types that are asked for as a whole and of which neither the origin nor a sound cache has said yet what there is. Nobody is to be told that there is nothing of them: clients that
 * come back would drop what they have.
 */
export interface AwaitedTypes {
  has(type: ResourceType): boolean;
  /** A collection is asked for of which nothing is known. */
  add(type: ResourceType, collection: ResourceName): void;
  /** It is known what is in a collection, or nobody asks for it any more. */
  delete(type: ResourceType, collection: ResourceName): void;
  /** The origin answered other types, and no more will come: of these types there is nothing. Not of those whose file on disk was damaged: something there was. */
  fallSilent(): void;
  readonly isEmpty: boolean;
  /** Resolves once all is known. */
  readonly known: Promise<void>;
}

/** `isDamaged`: there was a file of the type that could not be used whole. `changed` is told of all that are awaited. */
export function createAwaitedTypes(
  isDamaged: (type: ResourceType) => boolean,
  changed: (types: Iterable<ResourceType>) => void,
): AwaitedTypes {
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
    known,
    get isEmpty() {
      return awaited.size === 0;
    },
    has: (type) => awaited.has(type),
    add(type, collection) {
      const names = awaited.get(type) ?? new Set();
      awaited.set(type, names.add(collection));
      if (names.size === 1) tell();
    },
    delete(type, collection) {
      const names = awaited.get(type);
      if (names?.delete(collection) !== true || names.size > 0) return;
      awaited.delete(type);
      tell();
    },
    fallSilent() {
      for (const type of [...awaited.keys()]) if (!isDamaged(type)) awaited.delete(type);
      tell();
    },
  };
}
