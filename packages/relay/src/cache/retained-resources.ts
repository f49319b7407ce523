import { canonicalName, getOrInsert, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";

/** Everything that a relay holds of an origin for one group, for its cache on disk. */
export interface RetainedResources {
  /** Starts with the content of the disk. */
  begin(type: ResourceType, resources: readonly ReceivedResource[]): void;
  /** Call it before the update can be served. */
  take(update: ResourceUpdate): void;
  /** Types that changed since the last call. */
  changed(): readonly ResourceType[];
  has(type: ResourceType, name: ResourceName): boolean;
  isAsked(resource: ReceivedResource): boolean;
  all(type: ResourceType): Iterable<ReceivedResource>;
  named(type: ResourceType, name: ResourceName): readonly ReceivedResource[];
  /**
   * The wanted resources of a type, as they are served: of those whose last change waits, what there was before it.
   * After a restart nothing else would say what waits. Drops what is not wanted.
   */
  of(type: ResourceType): readonly ReceivedResource[];
  /** Whether changes of the type waited when `of` was called last. */
  waited(type: ResourceType): boolean;
  /** Something may not be wanted any more. */
  touch(type: ResourceType): void;
}

interface RetainedOptions {
  isWanted(type: ResourceType, name: ResourceName): boolean;
  /** Whether the last change of a resource is not served yet. */
  isWaiting(type: ResourceType, name: ResourceName): boolean;
  readonly graceMs: number;
  now(): number;
}

/**
 * Names that are not wanted can be dropped. Resources from disk are kept for `graceMs`, even if no client asks for them
 * yet: after a restart clients come back one after the other.
 */
export function createRetained({ isWanted, isWaiting, graceMs, now }: RetainedOptions): RetainedResources {
  const types = new Map<ResourceType, Map<ResourceName, ReceivedResource>>();
  /** What was served before the last changes; undefined: nothing. Needed while these changes wait. */
  const before = new Map<ResourceType, Map<ResourceName, ReceivedResource | undefined>>();
  const fromDisk = new WeakSet<ReceivedResource>();
  const dirty = new Set<ResourceType>();
  const until = now() + graceMs;
  const isAsked = ({ type, name, aliases }: ReceivedResource) =>
    [name, ...aliases].some((each) => isWanted(type, canonicalName(each)));

  function ofType(type: ResourceType): Map<ResourceName, ReceivedResource> {
    return getOrInsert(types, type, () => new Map());
  }

  function beforeOf(type: ResourceType): Map<ResourceName, ReceivedResource | undefined> {
    return getOrInsert(before, type, () => new Map());
  }

  return {
    begin(type: ResourceType, resources: readonly ReceivedResource[]) {
      for (const resource of resources) {
        ofType(type).set(canonicalName(resource.name), resource);
        fromDisk.add(resource);
      }
    },
    take({ type, upserted, removed, absent }: ResourceUpdate) {
      const retained = ofType(type);
      for (const { name } of [...upserted, ...removed, ...absent]) {
        const key = canonicalName(name);
        // A change that waits already was not served in between.
        if (!isWaiting(type, key)) beforeOf(type).set(key, retained.get(key));
      }
      for (const resource of upserted) retained.set(canonicalName(resource.name), resource);
      for (const { name } of [...removed, ...absent]) retained.delete(canonicalName(name));
      dirty.add(type);
    },
    changed(): readonly ResourceType[] {
      const found = [...dirty];
      dirty.clear();
      return found;
    },
    has: (type: ResourceType, name: ResourceName): boolean => types.get(type)?.has(canonicalName(name)) === true,
    isAsked,
    all: (type: ResourceType): Iterable<ReceivedResource> => types.get(type)?.values() ?? [],
    named(type: ResourceType, name: ResourceName): readonly ReceivedResource[] {
      const found = types.get(type)?.get(canonicalName(name));
      return found === undefined ? [] : [found];
    },
    of(type: ResourceType): readonly ReceivedResource[] {
      const retained = ofType(type);
      const isOver = now() >= until;
      for (const [name, resource] of retained) {
        if (fromDisk.has(resource) && !isOver) continue;
        if (!isAsked(resource)) retained.delete(name);
      }
      const served = new Map(retained);
      for (const [name, resource] of beforeOf(type)) {
        if (!isWaiting(type, name)) beforeOf(type).delete(name);
        else if (resource === undefined) served.delete(name);
        else served.set(name, resource);
      }
      return [...served.values()];
    },
    waited: (type: ResourceType): boolean => beforeOf(type).size > 0,
    touch: (type: ResourceType) => void dirty.add(type),
  };
}
