import { longestKey, maxShared } from "../../model/basics/limits.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { numberOf } from "../ordering/past-snapshots.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import type { InSyncCohort } from "./cohort.js";

/**
 * The cohorts at each snapshot, by key. Weak at both ends: a cohort lives as long as streams are in it, and an old
 * snapshot that somebody holds must not keep newer ones alive.
 */
const cohorts = new WeakMap<Snapshot, Map<string, WeakRef<InSyncCohort>>>();

/** The cohort with this key at a snapshot. All streams of a lineage share it. */
export function inSyncCohort(
  snapshot: Snapshot,
  key: string,
  make: () => InSyncCohort,
  lineage: SnapshotLineage | undefined,
): InSyncCohort {
  // A long key is not remembered, so the stream is alone in its cohort.
  if (key.length > longestKey) return make();
  const inLineage = lineage?.position(snapshot, key, make);
  if (inLineage !== undefined) return inLineage;
  let there = cohorts.get(snapshot);
  if (there === undefined) {
    there = new Map();
    cohorts.set(snapshot, there);
  }
  // Two lineages may share a snapshot, but a stream follows only one of them.
  const id = lineage === undefined ? key : `${numberOf(lineage)} ${key}`;
  const known = there.get(id)?.deref();
  if (known !== undefined) return known;
  if (there.size >= maxShared) there.clear();
  const made = make();
  there.set(id, new WeakRef(made));
  return made;
}
