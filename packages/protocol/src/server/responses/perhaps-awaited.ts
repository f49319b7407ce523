import { isCollection, type ResourceName, type ResourceType, type Version } from "@xdskit/api";
import { NameSet } from "../../model/names/name-set.js";
import { changeBetween } from "../../model/sets/change.js";
import { ResourceSets } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";

/**
 * The names that a reconnecting client claims to have, and for which something that it was sent later may still be
 * waiting: a cluster that changed after the client got the load assignment warms until it gets that again. What has not
 * changed since is warm, because the client was sent it before.
 *
 * `warmed`: the types that those of `type` warm. `known`: newest first; nothing is known of the time before the last
 * one.
 */
export function perhapsAwaited(
  type: ResourceType,
  claimed: ReadonlyMap<ResourceName, Version>,
  warmed: readonly ResourceType[],
  known: readonly Snapshot[],
): NameSet {
  const changed = lastChanges(type, warmed, known);
  const has = (index: number, name: ResourceName, version: Version) => {
    const snapshot = known[index];
    return snapshot !== undefined && ResourceSets.get(snapshot.of(type), name)?.version === version;
  };
  const names: ResourceName[] = [];
  for (const [name, version] of claimed) {
    const change = changed.get(name);
    // The client may have got it at any time.
    const isOld = has(known.length - 1, name, version) || !known.some((_, index) => has(index, name, version));
    // It may also have got it with what came together with the change, and the rest later.
    const isBefore = change !== undefined && known.some((_, index) => index >= change && has(index, name, version));
    if (isOld || isBefore) names.push(name);
  }
  return NameSet.of(names);
}

/** By name, the newest of the known snapshots in which something new or changed names it. */
function lastChanges(
  { typeUrl }: ResourceType,
  warmed: readonly ResourceType[],
  known: readonly Snapshot[],
): ReadonlyMap<ResourceName, number> {
  const last = new Map<ResourceName, number>();
  for (const [index, snapshot] of known.entries()) {
    const before = known[index + 1];
    if (before === undefined) break;
    for (const type of warmed) {
      for (const { references } of changeBetween(before.of(type), snapshot.of(type)).upserted) {
        for (const reference of references) {
          if (!isCollection(reference) && reference.type === typeUrl && !last.has(reference.name))
            last.set(reference.name, index);
        }
      }
    }
  }
  return last;
}
