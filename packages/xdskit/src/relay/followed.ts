import type { Reference, Resource, ResourceName, ResourceType } from "@xdskit/api";

/** What resources name, so that it is asked for as long as one of them does. */
export interface Followed {
  /** A resource came, or came with another content; undefined: it is gone. */
  set(type: ResourceType, key: ResourceName, resource: Resource | undefined): void;
  isFollowed(reference: Reference): boolean;
  close(): void;
}

/** `follow` is called for what is named first, and returns what ends it. `picks`: what is to be followed at all. Costs what changes. */
export function createFollowed(
  picks: (reference: Reference) => boolean,
  follow: (reference: Reference) => () => void,
): Followed {
  const named = new Map<string, { count: number; readonly end: () => void }>();
  /** By the resource that names them. */
  const namedBy = new Map<string, readonly Reference[]>();

  return {
    set(type, key, resource) {
      const referrer = `${type.typeUrl} ${key}`;
      const before = namedBy.get(referrer) ?? [];
      const after = resource?.references.filter(picks) ?? [];
      if (after.length === 0) namedBy.delete(referrer);
      else namedBy.set(referrer, after);
      // First what is new: what both name is not let go of between.
      for (const reference of after) {
        const known = named.get(keyOf(reference));
        if (known !== undefined) known.count += 1;
        else named.set(keyOf(reference), { count: 1, end: follow(reference) });
      }
      for (const reference of before) {
        const known = named.get(keyOf(reference));
        if (known === undefined) continue;
        known.count -= 1;
        if (known.count > 0) continue;
        named.delete(keyOf(reference));
        known.end();
      }
    },
    isFollowed: (reference) => named.has(keyOf(reference)),
    close() {
      for (const { end } of named.values()) end();
      named.clear();
      namedBy.clear();
    },
  };
}

function keyOf({ type, name }: Reference): string {
  return `${type} ${name}`;
}
