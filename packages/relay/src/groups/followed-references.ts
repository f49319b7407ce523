import type { Reference, Resource, ResourceName, ResourceType } from "@xdskit/api";

/** The names in resources. Each is asked for as long as a resource has it. */
export interface FollowedReferences {
  /** A resource came or changed; undefined: it is gone. */
  set(type: ResourceType, key: ResourceName, resource: Resource | undefined): void;
  isAbsent(reference: Reference): boolean;
  /** Calls `follow` for each name that there is, and from now on for each that is new. */
  start(follow: (reference: Reference) => Following): void;
  close(): void;
}

/** A name that is asked for. */
export interface Following {
  /** The origin has said that it does not exist. */
  readonly isAbsent: boolean;
  end(): void;
}

/** `picks` selects the names to follow. Costs what changes. */
export function createFollowed(picks: (reference: Reference) => boolean): FollowedReferences {
  const named = new Map<string, { count: number; readonly reference: Reference; following: Following | undefined }>();
  let follow: (reference: Reference) => Following | undefined = () => undefined;
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
        else named.set(followedKey(reference), { count: 1, reference, following: follow(reference) });
      }
      for (const reference of before) {
        const known = named.get(followedKey(reference));
        if (known === undefined) continue;
        known.count -= 1;
        if (known.count > 0) continue;
        named.delete(followedKey(reference));
        known.following?.end();
      }
    },
    isAbsent: (reference: Reference): boolean => named.get(followedKey(reference))?.following?.isAbsent === true,
    start(by: (reference: Reference) => Following) {
      follow = by;
      for (const each of named.values()) each.following ??= by(each.reference);
    },
    close() {
      for (const { following } of named.values()) following?.end();
      named.clear();
      namedBy.clear();
    },
  };
}

function followedKey({ type, name }: Reference): string {
  return `${type} ${name}`;
}
