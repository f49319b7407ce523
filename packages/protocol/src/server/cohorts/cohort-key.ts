import type { Node } from "../../model/basics/node.js";
import { type ResourceSet, ResourceSets } from "../../model/sets/resource-set.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { StreamOptions } from "../contract/options.js";
import { numberOf } from "../ordering/past-snapshots.js";
import { isFirst } from "../ordering/shared-stage.js";
import type { SnapshotLineage } from "../ordering/snapshot-lineage.js";
import { isAbsenceUnreported } from "../responses/absence.js";
import type { ReportedDetails } from "../responses/reported-details.js";
import { noErrors, type Subscriber } from "../state/subscriber.js";
import { isDecided } from "../state/undecided-names.js";

/**
 * Whether the sent state, the used state and the draining listeners say everything about a subscriber. Nothing may be
 * rejected or undecided, no full resend may be due, and nothing may have a TTL. Drain times must be known, and a
 * removed resource that stays must still be named. This is the only guard for repeated transitions.
 */
export function isPlain(subscriber: Subscriber): boolean {
  const { sent, used, lifetimes, errors, exchange } = subscriber;
  if (sent.everything || sent.mustAnswer || errors !== noErrors || exchange.inFlight.length > 1) return false;
  if (used.rejection !== undefined || lifetimes !== undefined || isFirst(subscriber)) return false;
  const { draining, grace, undecided } = subscriber;
  for (const { until } of draining) if (until === undefined) return false;
  if (grace !== undefined) for (const { until } of grace.values()) if (until !== undefined) return false;
  return isDecided(undecided);
}

/** The inputs of a stream's behaviour, besides its client's requests and the responses to them. */
export interface CohortSurroundings {
  readonly options: StreamOptions;
  readonly node: Node;
  readonly reports: ReportedDetails;
  /** The set of a type that the client must have to be in sync (`Ordering.meanwhile`). */
  readonly needed: (subscriber: Subscriber) => ResourceSet;
  readonly isOrdered: boolean;
  /** Other streams share its order. */
  readonly sharesOrder: boolean;
  /** The lineage of the stream's snapshots; undefined if there is none. */
  readonly lineage: SnapshotLineage | undefined;
}

/** Separates cohorts in which different listeners drain, or different resources stay for that. */
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
 * Equal for streams that, once in sync at the same snapshot, send the same for the next one. Parameters are a client's
 * own text. Their length stands before them, or a client could forge the key of another cohort.
 */
export function keyOfRequests(
  subscribers: readonly Subscriber[],
  { options, node, reports, isOrdered, sharesOrder }: CohortSurroundings,
): string {
  const { variant, api, only } = options;
  let key = `${variant}${api}${only === undefined ? "" : "1"}${isOrdered ? "o" : ""}${sharesOrder ? "+" : ""} `;
  for (const { type, api, subscription, tellsVariants } of subscribers) {
    const { wildcard, names, parameters = "" } = subscription;
    const flags =
      (wildcard ? 1 : 0) +
      (tellsVariants ? 2 : 0) +
      (reports.ttl(type) ? 4 : 0) +
      (isAbsenceUnreported(type, node) ? 8 : 0) +
      (api === "v2" ? 16 : 0);
    key += `${numberOf(type)}.${names.id}.${flags}.${parameters.length}.${parameters} `;
  }
  return key;
}
