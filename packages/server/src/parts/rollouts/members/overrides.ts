import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import { branchSnapshot, changeBetween, type Snapshot } from "@xdskit/protocol";

/** One resource by type and key. */
export interface Keyed {
  readonly type: ResourceType;
  readonly key: ResourceName;
}

/** The difference of one resource between two snapshots. At least one of `before` and `after` is there. */
export interface KeyChange extends Keyed {
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/** The content that some streams get of a resource instead of the newest one; undefined: none. */
export interface Override extends Keyed {
  readonly resource: Resource | undefined;
}

/** By type and key. */
export type Overrides = Map<string, Override>;

/** The resource that a snapshot has under a key. */
export function resourceIn(snapshot: Snapshot, { type, key }: Keyed): Resource | undefined {
  return snapshot.of(type).get(key);
}

/** The differences between two snapshots. Costs only these if one was derived from the other. */
export function* changesBetween(before: Snapshot, after: Snapshot): Iterable<KeyChange> {
  const types = new Map<string, ResourceType>();
  for (const { sets } of [before, after]) for (const { type } of sets.values()) types.set(type.typeUrl, type);
  for (const type of types.values()) {
    for (const difference of changeBetween(before.of(type), after.of(type)).differences.values()) {
      yield { type, ...difference };
    }
  }
}

/** The newest snapshot with overrides laid over it. Costs the overrides. */
export function overlaid(newest: Snapshot, overrides: Overrides): Snapshot {
  if (overrides.size === 0) return newest;
  const all = [...overrides.values()];
  const remove = all.filter(({ resource }) => resource === undefined).map(({ type, key }) => ({ type, name: key }));
  return branchSnapshot(newest, { upsert: all.flatMap(({ resource }) => resource ?? []), remove });
}
