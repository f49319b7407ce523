import { canonicalName, type ResourceName, type ResourceType } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate } from "@xdskit/protocol";

/** Everything that a relay holds of an origin for one group, for its cache on disk. */
export type HeldOfGroup = ReturnType<typeof createHeldOfGroup>;

/**
 * Names that are not wanted can be dropped. Resources from disk are kept for `graceMs`, even if no client asks for them
 * yet: after a restart clients come back one after the other.
 */
export function createHeldOfGroup(
  isWanted: (type: ResourceType, name: ResourceName) => boolean,
  graceMs: number,
  now: () => number,
) {
  const types = new Map<ResourceType, Map<ResourceName, ReceivedResource>>();
  const fromDisk = new WeakSet<ReceivedResource>();
  const dirty = new Set<ResourceType>();
  const until = now() + graceMs;
  const isAsked = ({ type, name, aliases }: ReceivedResource) =>
    [name, ...aliases].some((each) => isWanted(type, canonicalName(each)));

  function ofType(type: ResourceType): Map<ResourceName, ReceivedResource> {
    const known = types.get(type) ?? new Map<ResourceName, ReceivedResource>();
    types.set(type, known);
    return known;
  }

  return {
    /** Starts with the content of the disk. */
    begin(type: ResourceType, resources: readonly ReceivedResource[]) {
      for (const resource of resources) {
        ofType(type).set(canonicalName(resource.name), resource);
        fromDisk.add(resource);
      }
    },
    take({ type, upserted, removed, absent }: ResourceUpdate) {
      const held = ofType(type);
      for (const resource of upserted) held.set(canonicalName(resource.name), resource);
      for (const { name } of [...removed, ...absent]) held.delete(canonicalName(name));
      dirty.add(type);
    },
    /** Types that changed since the last call. */
    changed(): readonly ResourceType[] {
      const found = [...dirty];
      dirty.clear();
      return found;
    },
    has: (type: ResourceType, name: ResourceName): boolean => types.get(type)?.has(canonicalName(name)) === true,
    isAsked,
    /** The wanted resources of a type; drops the others. */
    of(type: ResourceType): readonly ReceivedResource[] {
      const held = ofType(type);
      const isOver = now() >= until;
      for (const [name, resource] of held) {
        if (fromDisk.has(resource) && !isOver) continue;
        if (!isAsked(resource)) held.delete(name);
      }
      return [...held.values()];
    },
    /** Something may not be wanted any more. */
    touch: (type: ResourceType) => void dirty.add(type),
  };
}
