import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { Change } from "@xdskit/protocol";

/** Removed resources that stay in the files for a while, since a client may still use a resource that names them. */
export interface LingeringResources {
  /** Takes the changes of a type. */
  note(type: ResourceType, change: Change, now: number): void;
  /** The resources of a type that stay for now. */
  of(type: ResourceType): Iterable<Resource>;
  /** Takes out the resources whose time is over. */
  due(now: number): readonly Resource[];
  /** When the next time is over. */
  readonly deadline: number | undefined;
}

/**
 * A resource that others may name lingers. Listeners and scoped routes go at once: nothing names them, and new ones may
 * need the same address or keys, which a client gives to only one.
 */
export function createLingeringResources(lingerMs: number): LingeringResources {
  const types = new Map<ResourceType, Map<ResourceName, { readonly resource: Resource; readonly until: number }>>();
  return {
    note(type: ResourceType, { upserted, removed }: Change, now: number) {
      if (type.fullState && !type.acknowledgedWarm) return;
      const going = types.get(type) ?? new Map();
      for (const resource of removed) going.set(resource.key, { resource, until: now + lingerMs });
      for (const { key } of upserted) going.delete(key);
      types.set(type, going);
    },
    of: (type: ResourceType): Iterable<Resource> =>
      Array.from(types.get(type)?.values() ?? [], ({ resource }) => resource),
    due(now: number): readonly Resource[] {
      const gone: Resource[] = [];
      for (const going of types.values()) {
        for (const [key, { resource, until }] of going) {
          if (until > now) continue;
          going.delete(key);
          gone.push(resource);
        }
      }
      return gone;
    },
    get deadline(): number | undefined {
      let first: number | undefined;
      for (const going of types.values()) {
        for (const { until } of going.values()) if (first === undefined || until < first) first = until;
      }
      return first;
    },
  };
}
