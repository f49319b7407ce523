import type { Reference, Resource, ResourceName, ResourceType } from "@xdskit/api";

/** The names in resources. Each is asked for as long as a resource has it. */
export interface Followed {
  /** A resource came or changed; undefined: it is gone. */
  set(type: ResourceType, key: ResourceName, resource: Resource | undefined): void;
  isAbsent(reference: Reference): boolean;
  close(): void;
}

/** A name that is asked for. */
export interface Following {
  /** The origin has said that it does not exist. */
  readonly isAbsent: boolean;
  end(): void;
}

/**
 * `follow` is called for a name that is new. `picks` selects the names to follow. Costs what changes.
 */
export function createFollowed(
  picks: (reference: Reference) => boolean,
  follow: (reference: Reference) => Following,
): Followed {
  const named = new Map<string, { count: number; readonly following: Following }>();
  /** By the resource that has the names. */
  const namedBy = new Map<string, readonly Reference[]>();

  return {
    set(type: ResourceType, key: ResourceName, resource: Resource | undefined) {
      const referrer = `${type.typeUrl} ${key}`;
      const before = namedBy.get(referrer) ?? [];
      const after = resource?.references.filter(picks) ?? [];
      if (after.length === 0) namedBy.delete(referrer);
      else namedBy.set(referrer, after);
      // New names first: a name that both have is not dropped in between.
      for (const reference of after) {
        const known = named.get(followedKey(reference));
        if (known !== undefined) known.count += 1;
        else named.set(followedKey(reference), { count: 1, following: follow(reference) });
      }
      for (const reference of before) {
        const known = named.get(followedKey(reference));
        if (known === undefined) continue;
        known.count -= 1;
        if (known.count > 0) continue;
        named.delete(followedKey(reference));
        known.following.end();
      }
    },
    isAbsent: (reference: Reference): boolean => named.get(followedKey(reference))?.following.isAbsent === true,
    close() {
      for (const { following } of named.values()) following.end();
      named.clear();
      namedBy.clear();
    },
  };
}

function followedKey({ type, name }: Reference): string {
  return `${type} ${name}`;
}
