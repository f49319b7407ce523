import type { ResourceType } from "@xdskit/api";
import { longestKey, mostShared } from "../../model/limits.js";
import type { Snapshot } from "../../model/snapshot.js";
import { numberOf } from "../ordering/past-snapshots.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import { SettledCohort } from "./cohort.js";

/**
 * Weak at both ends: cohorts are there for as long as streams are in them, and a snapshot that somebody remembers must
 * not hold what came after it.
 */
const cohorts = new WeakMap<Snapshot, Map<string, WeakRef<SettledCohort>>>();

/** The cohort with this key at a snapshot, for streams that ask for these types: one for all streams of a lineage. */
export function settledCohort(
  snapshot: Snapshot,
  key: string,
  typesOf: () => readonly ResourceType[],
  lineage: SnapshotLineage | undefined,
): SettledCohort {
  // Such a stream is alone in its cohort.
  if (key.length > longestKey) return new SettledCohort(snapshot, key, typesOf());
  const inLineage = lineage?.position(snapshot, key, () => new SettledCohort(snapshot, key, typesOf()));
  if (inLineage !== undefined) return inLineage;
  let there = cohorts.get(snapshot);
  if (there === undefined) {
    there = new Map();
    cohorts.set(snapshot, there);
  }
  // Lineages may have a snapshot in common; a stream that arrives here belongs to one of them.
  const id = lineage === undefined ? key : `${numberOf(lineage)} ${key}`;
  const known = there.get(id)?.deref();
  if (known !== undefined) return known;
  if (there.size >= mostShared) there.clear();
  const made = new SettledCohort(snapshot, key, typesOf());
  there.set(id, new WeakRef(made));
  return made;
}
