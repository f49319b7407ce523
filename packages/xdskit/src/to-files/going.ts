import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { Change } from "@xdskit/protocol";

/** What was removed and stays in the files for a while, since a client may still use what names it. */
export interface Going {
  /** Takes notice of what changed of a type. */
  changed(type: ResourceType, change: Change, now: number): void;
  /** What of a type stays for now. */
  of(type: ResourceType): Iterable<Resource>;
  /** Takes out what has stayed long enough. */
  due(now: number): readonly Resource[];
  /** When something is due next. */
  readonly deadline: number | undefined;
}

/**
 * What other resources name lingers. Listeners and scoped routes go at once: nothing names them, and those that come in their place may want the same address or
 * the same keys, which a client gives to one only.
 */
export function createGoing(lingerMs: number): Going {
  const types = new Map<ResourceType, Map<ResourceName, { readonly resource: Resource; readonly until: number }>>();
  return {
    changed(type, { upserted, removed }, now) {
      if (type.fullState && !type.acknowledgedWarm) return;
      const going = types.get(type) ?? new Map();
      for (const resource of removed) going.set(resource.key, { resource, until: now + lingerMs });
      for (const { key } of upserted) going.delete(key);
      types.set(type, going);
    },
    of: (type) => Array.from(types.get(type)?.values() ?? [], ({ resource }) => resource),
    due(now) {
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
    get deadline() {
      let first: number | undefined;
      for (const going of types.values()) {
        for (const { until } of going.values()) if (first === undefined || until < first) first = until;
      }
      return first;
    },
  };
}
