import { canonicalName, type Resource, type ResourceName, type ResourceType, type TypeUrl } from "@xdskit/api";
import { emptyResourceSet, type ResourceSet, ResourceSets } from "../sets/resource-set.js";

/**
 * All resources for a group of nodes: an immutable set for each type. Each snapshot is derived from the one before, so
 * they form a lineage (`SnapshotLineage`) with the newest at its end. A branch is derived beside the lineage, for
 * clients that get something else for a while (in a rollout, for example).
 */
export interface Snapshot {
  /** The set of a type; empty if the snapshot has none. */
  of(type: ResourceType): ResourceSet;
  /** By v3 type URL, the sets of all types that have or once had a resource. */
  readonly sets: ReadonlyMap<TypeUrl, ResourceSet>;
}

/** The changes of the next snapshot. A name in both lists stays, with the content of `upsert`. */
export interface Update {
  /** Added, or put in place of those with the same type and name. Of two with the same name the later one counts. */
  readonly upsert?: Iterable<Resource>;
  /** A missing name is no error. */
  readonly remove?: Iterable<{ readonly type: ResourceType; readonly name: ResourceName }>;
}

/** The snapshot that has nothing. Its sets are equal to all other empty ones. */
export function emptySnapshot(): Snapshot {
  return nothing;
}

/**
 * Derives the next snapshot of a lineage. Costs the update, not the snapshot, as long as `snapshot` is the newest of
 * its lineage; an older one is copied. Sets of types that do not change stay the very same objects, and so does the
 * snapshot if nothing changes.
 */
export function updateSnapshot(snapshot: Snapshot, update: Update): Snapshot {
  return withUpdate(snapshot, update, ResourceSets.derive);
}

/**
 * Derives a branch, which some clients get for a while instead of the newest. If `snapshot` is the newest of its
 * lineage, it stays so. Costs the update, whichever snapshot it is derived from; deriving from a branch copies it.
 */
export function branchSnapshot(snapshot: Snapshot, update: Update): Snapshot {
  return withUpdate(snapshot, update, ResourceSets.branch);
}

function withUpdate(snapshot: Snapshot, update: Update, next: typeof ResourceSets.derive): Snapshot {
  const byType = new Map<TypeUrl, { type: ResourceType; changes: Map<ResourceName, Resource | undefined> }>();
  const note = (type: ResourceType, key: ResourceName, resource: Resource | undefined): void => {
    let entry = byType.get(type.typeUrl);
    if (entry === undefined) {
      entry = { type, changes: new Map() };
      byType.set(type.typeUrl, entry);
    }
    entry.changes.set(key, resource);
  };
  for (const { type, name } of update.remove ?? []) note(type, canonicalName(name), undefined);
  for (const resource of update.upsert ?? []) note(resource.type, resource.key, resource);

  let sets: Map<TypeUrl, ResourceSet> | undefined;
  for (const [typeUrl, { type, changes }] of byType) {
    const before = snapshot.sets.get(typeUrl) ?? emptyResourceSet(type);
    const after = next(before, changes);
    if (after === before) continue;
    sets ??= new Map(snapshot.sets);
    sets.set(typeUrl, after);
  }
  return sets === undefined ? snapshot : snapshotOf(sets);
}

/** The time between heartbeats for the resource with the shortest TTL, in milliseconds; undefined if none has a TTL. */
export function shortestBeat(snapshot: Snapshot): number | undefined {
  let shortest: number | undefined;
  for (const set of snapshot.sets.values()) {
    const interval = ResourceSets.shortestInterval(set);
    if (interval !== undefined && interval < (shortest ?? Number.POSITIVE_INFINITY)) shortest = interval;
  }
  return shortest;
}

/** A snapshot of these sets. */
export function snapshotOf(sets: ReadonlyMap<TypeUrl, ResourceSet>): Snapshot {
  return { sets, of: (type) => sets.get(type.typeUrl) ?? emptyResourceSet(type) };
}

const nothing = snapshotOf(new Map());
