import type { Resource, ResourceName, ResourceType, TypeUrl, Version } from "@xdskit/api";

/** The resources of one type in a snapshot. Immutable; sets derived from each other share what did not change. */
export interface ResourceSet {
  readonly type: ResourceType;
  /** Derived from the members' names and versions, whatever their order: every replica and every restart computes the same one. */
  readonly version: Version;
  readonly size: number;
  /** By name. */
  get(name: ResourceName): Resource | undefined;
  /** By alias (VHDS); undefined where no resource has it. */
  byAlias(alias: ResourceName): Resource | undefined;
  [Symbol.iterator](): Iterator<Resource>;
}

/** All that a group of nodes is to have: an immutable set of resources per type. */
export interface Snapshot {
  /** The set of a type; empty where the snapshot has none. */
  of(type: ResourceType): ResourceSet;
  /** The sets that are not empty or once were. */
  readonly sets: ReadonlyMap<TypeUrl, ResourceSet>;
}

/** How one snapshot is to become the next. */
export interface Update {
  /** Added, or put in the place of those with the same type and name. */
  readonly upsert?: Iterable<Resource>;
  readonly remove?: Iterable<{ readonly type: ResourceType; readonly name: ResourceName }>;
}
