import { canonicalName, getOrInsert, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";
import type { FoundType } from "./cache-folder.js";

/** What others know of names. */
export interface KnownOfNames {
  isWanted(type: ResourceType, name: ResourceName): boolean;
  /** Whether the last change of a resource is not served yet. */
  isWaiting(type: ResourceType, name: ResourceName): boolean;
}

/** Everything that a relay holds of an origin for one group, for its cache on disk. */
export interface OriginResources {
  /** An update that is not served yet. */
  take(update: ResourceUpdate, isWaiting: KnownOfNames["isWaiting"]): void;
  /** Types that changed since the last call. */
  takeChangedTypes(): readonly ResourceType[];
  has(type: ResourceType, name: ResourceName): boolean;
  all(type: ResourceType): Iterable<ReceivedResource>;
  named(type: ResourceType, name: ResourceName): readonly ReceivedResource[];
  /**
   * The wanted resources of a type, as they are served: of those whose last change waits, what there was before it.
   * After a restart nothing else would say what waits. Drops what is not wanted. `isNewest`: they are what the origin
   * gave last, and all of them are asked for.
   */
  of(type: ResourceType, names: KnownOfNames): { resources: readonly ReceivedResource[]; isNewest: boolean };
  /** Something may not be wanted any more. */
  touch(type: ResourceType): void;
  /** `listener` is called whenever a type has changed. */
  onTouched(listener: () => void): void;
}

/** How long resources from disk are kept without a client that asks for them. Milliseconds. */
const graceMs = 600_000;

/**
 * Starts with the content of the disk. Names that are not wanted can be dropped; what comes from disk is kept for a
 * while, even if no client asks for it yet: after a restart clients come back one after the other.
 */
export function createOriginResources(found: readonly FoundType[]): OriginResources {
  const types = new Map<ResourceType, Map<ResourceName, ReceivedResource>>();
  /** What was served before the last changes; undefined: nothing. Needed while these changes wait. */
  const before = new Map<ResourceType, Map<ResourceName, ReceivedResource | undefined>>();
  const fromDisk = new WeakSet<ReceivedResource>();
  const dirty = new Set<ResourceType>();
  const listeners = new Set<() => void>();
  const until = performance.now() + graceMs;

  function ofType(type: ResourceType): Map<ResourceName, ReceivedResource> {
    return getOrInsert(types, type, () => new Map());
  }

  function beforeOf(type: ResourceType): Map<ResourceName, ReceivedResource | undefined> {
    return getOrInsert(before, type, () => new Map());
  }

  function touch(type: ResourceType): void {
    dirty.add(type);
    for (const listener of listeners) listener();
  }

  for (const { type, resources } of found)
    for (const resource of resources) {
      ofType(type).set(canonicalName(resource.name), resource);
      fromDisk.add(resource);
    }

  return {
    take({ type, upserted, removed, absent }: ResourceUpdate, isWaiting: KnownOfNames["isWaiting"]) {
      const retained = ofType(type);
      for (const { name } of [...upserted, ...removed, ...absent]) {
        const key = canonicalName(name);
        // A change that waits already was not served in between.
        if (!isWaiting(type, key)) beforeOf(type).set(key, retained.get(key));
      }
      for (const resource of upserted) retained.set(canonicalName(resource.name), resource);
      for (const { name } of [...removed, ...absent]) retained.delete(canonicalName(name));
      touch(type);
    },
    takeChangedTypes(): readonly ResourceType[] {
      const found = [...dirty];
      dirty.clear();
      return found;
    },
    has: (type: ResourceType, name: ResourceName): boolean => types.get(type)?.has(canonicalName(name)) === true,
    all: (type: ResourceType): Iterable<ReceivedResource> => types.get(type)?.values() ?? [],
    named(type: ResourceType, name: ResourceName): readonly ReceivedResource[] {
      const found = types.get(type)?.get(canonicalName(name));
      return found === undefined ? [] : [found];
    },
    of(type: ResourceType, { isWanted, isWaiting }: KnownOfNames) {
      const retained = ofType(type);
      const isOver = performance.now() >= until;
      let isAsked = true;
      for (const [key, resource] of retained) {
        const { name, aliases } = resource;
        if ([name, ...aliases].some((each) => isWanted(type, canonicalName(each)))) continue;
        if (isOver || !fromDisk.has(resource)) retained.delete(key);
        else isAsked = false;
      }
      const served = new Map(retained);
      for (const [name, resource] of beforeOf(type)) {
        if (!isWaiting(type, name)) beforeOf(type).delete(name);
        else if (resource === undefined) served.delete(name);
        else served.set(name, resource);
      }
      return { resources: [...served.values()], isNewest: isAsked && beforeOf(type).size === 0 };
    },
    touch,
    onTouched: (listener: () => void) => void listeners.add(listener),
  };
}
