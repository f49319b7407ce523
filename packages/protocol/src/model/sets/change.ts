import type { Resource, ResourceName } from "@xdskit/api";
import { perPair } from "../basics/memo.js";
import { type ResourceSet, ResourceSets } from "./resource-set.js";

/** A key under which two sets differ. At least one of `before` and `after` is set. */
export interface Difference {
  readonly key: ResourceName;
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/**
 * The differences between two sets of one type. Computed once for a pair of sets, and shared by all streams that go
 * from one to the other.
 */
export interface Change {
  /** By key. */
  readonly differences: ReadonlyMap<ResourceName, Difference>;
  /** Some resource in it has aliases, so that its name alone does not tell which clients it concerns. */
  readonly hasAliases: boolean;
  /** They are virtual hosts, which have their names in any case. */
  readonly hasHosts: boolean;
  /** Something is under a key that was not there before. */
  readonly adds: boolean;
  /** The resources that are added or have another content, as they are in the second set. */
  readonly upserted: readonly Resource[];
  /** Those that are gone, as they were in the first set. */
  readonly removed: readonly Resource[];
}

/**
 * The differences from `from` to `to`. Costs the change if one was derived from the other, in any number of steps; the
 * size of both sets if they are of different lineages. The result is kept as long as both sets live.
 */
export function changeBetween(from: ResourceSet, to: ResourceSet): Change {
  if (from === to) return nothing;
  return changeTo(to, from);
}

const changeTo = perPair((to: ResourceSet, from: ResourceSet) => changeOf(differencesBetween(from, to)));

function* differencesBetween(from: ResourceSet, to: ResourceSet): Iterable<Difference> {
  const stepped = ResourceSets.differences(from, to);
  if (stepped !== undefined) {
    for (const [key, before] of stepped) yield { key, before, after: ResourceSets.get(to, key) };
    return;
  }
  for (const after of to) yield { key: after.key, before: ResourceSets.get(from, after.key), after };
  for (const before of from) {
    if (ResourceSets.get(to, before.key) === undefined) yield { key: before.key, before, after: undefined };
  }
}

function changeOf(found: Iterable<Difference>): Change {
  const differences = new Map<ResourceName, Difference>();
  const upserted: Resource[] = [];
  const removed: Resource[] = [];
  let hasAliases = false;
  let hasHosts = false;
  let adds = false;
  for (const difference of found) {
    const { before, after } = difference;
    // Rule 8: going away and coming back with the same content is no change.
    if (before?.version === after?.version) continue;
    differences.set(difference.key, difference);
    if (after !== undefined) upserted.push(after);
    else if (before !== undefined) removed.push(before);
    adds ||= before === undefined;
    hasAliases ||= (before?.aliases.length ?? 0) > 0 || (after?.aliases.length ?? 0) > 0;
    hasHosts ||= (after ?? before)?.type.namedBelow !== undefined;
  }
  return { differences, adds, upserted, removed, hasAliases, hasHosts };
}

const nothing = changeOf([]);
