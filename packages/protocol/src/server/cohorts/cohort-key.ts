import type { Node } from "../../model/node.js";
import { type ResourceSet, ResourceSets } from "../../model/resource-set.js";
import type { Snapshot } from "../../model/snapshot.js";
import type { StreamOptions } from "../contract/options.js";
import { numberOf } from "../ordering/past-snapshots.js";
import { isFirst } from "../ordering/shared-stage.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import { isAbsenceUnsaid } from "../responses/absence.js";
import type { Told } from "../responses/told.js";
import { noErrors, type Subscriber } from "../state/subscriber.js";

/**
 * Whether the two values of a subscriber, and what drains, say everything about it: nothing is rejected or undecided,
 * all is not asked for again, and nothing has a TTL. What drains does so until a time that is known, and what stays
 * only because the client asks for it is named by that. Every guard of what streams may repeat is here.
 */
export function isPlain(subscriber: Subscriber): boolean {
  const { sent, used, lifetimes, errors, inFlight } = subscriber;
  if (sent.everything || sent.mustAnswer || errors !== noErrors || inFlight.length > 1) return false;
  if (used.rejection !== undefined || lifetimes !== undefined || isFirst(subscriber)) return false;
  const { draining, grace, undecided, waitsFor } = subscriber;
  for (const { until } of draining) if (until === undefined) return false;
  if (grace !== undefined) for (const { until } of grace.values()) if (until !== undefined) return false;
  return undecided.size + waitsFor.size === 0;
}

/** What decides what a stream does, besides what its client asked for and got. */
export interface CohortSurroundings {
  readonly options: StreamOptions;
  readonly node: Node;
  readonly told: Told;
  /** What the client needs to have of a type to be settled (`Ordering.meanwhile`). */
  readonly needed: (subscriber: Subscriber) => ResourceSet;
  readonly isOrdered: boolean;
  /** Other streams share its order. */
  readonly isAccompanied: boolean;
  /** The lineage of the snapshots that it is given; undefined where it has none. */
  readonly lineage: SnapshotLineage | undefined;
}

/** Tells cohorts from others with which something else drains, or stays for that. */
export function keyOfDraining(subscribers: readonly Subscriber[], snapshot: Snapshot): string {
  let key = "";
  for (const {
    type,
    draining,
    sent: { set: sentSet },
  } of subscribers) {
    for (const { what } of draining) key += `_${numberOf(what)}`;
    key += sentSet === snapshot.of(type) ? "," : `${ResourceSets.id(sentSet)},`;
  }
  return key;
}

/**
 * Equal for streams that send the same when they are given the same snapshot, once they settled at the same one.
 * Parameters, which are a client's own text, stand behind their length, or a client could write such that it has the
 * key of another cohort.
 */
export function keyOfRequests(
  subscribers: readonly Subscriber[],
  { options, node, told, isOrdered, isAccompanied }: CohortSurroundings,
): string {
  const { variant, api, only } = options;
  let key = `${variant}${api}${only === undefined ? "" : "1"}${isOrdered ? "o" : ""}${isAccompanied ? "+" : ""} `;
  for (const { type, api, subscription, tellsVariants } of subscribers) {
    const { wildcard, names, parameters = "" } = subscription;
    const flags =
      (wildcard ? 1 : 0) +
      (tellsVariants ? 2 : 0) +
      (told.ttl(type) ? 4 : 0) +
      (isAbsenceUnsaid(type, node) ? 8 : 0) +
      (api === "v2" ? 16 : 0);
    key += `${numberOf(type)}.${names.id}.${flags}.${parameters.length}.${parameters} `;
  }
  return key;
}
