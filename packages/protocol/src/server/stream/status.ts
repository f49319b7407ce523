import type { Version } from "@xdskit/api";
import type { Wait } from "../../model/basics/wait.js";
import type { ResourceSet } from "../../model/sets/resource-set.js";
import { lackedSince } from "../../model/snapshots/published.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { answeredBy } from "../acknowledgements/apply-answer.js";
import { firstPublished, inFlightSinceAck } from "../acknowledgements/in-flight.js";
import { perishable } from "../acknowledgements/lifetimes.js";
import { confirmedNames, hadOf } from "../acknowledgements/unconfirmed-names.js";
import type { OrderedStream } from "../ordering/ordered-stream.js";
import type { Ordering } from "../ordering/ordering.js";
import type { ReportedDetails } from "../responses/reported-details.js";
import { maxInFlight, type NumberedResponse } from "../state/exchange.js";
import type { Subscriber } from "../state/subscriber.js";
import type { TypeStatus } from "../state/type-status.js";

/** The status of each type that a stream asks for. `wanted`: the client's target; `told`: whether it is told TTLs. */
export function statusesOf(
  stream: OrderedStream,
  wanted: Snapshot | undefined,
  ordering: Ordering | undefined,
  reports: ReportedDetails,
): readonly TypeStatus[] {
  return stream.subscribers.map((subscriber) => {
    const wantedSet = wanted?.of(subscriber.type);
    const meanwhile = (wanted && ordering?.meanwhile(stream, subscriber, wanted)) ?? wantedSet;
    return statusOf(subscriber, wantedSet, meanwhile, ordering?.waitsOf(stream, subscriber) ?? [], reports);
  });
}

function statusOf(
  subscriber: Subscriber,
  wanted: ResourceSet | undefined,
  meanwhile: ResourceSet | undefined,
  waits: readonly Wait[],
  reports: ReportedDetails,
): TypeStatus {
  const {
    type,
    api,
    subscription,
    exchange,
    sent: { set: sentSet },
  } = subscriber;
  const { set: usedSet, rejection } = answeredBy(subscriber);
  const { lastSent, lastAcked } = exchange;
  const inFlight = inFlightSinceAck(exchange);
  return {
    type,
    api,
    subscription,
    wanted,
    meanwhile,
    sent: lastSent && { version: lastSent.version, at: lastSent.at, published: lastSent.published, set: sentSet },
    acknowledged: usedSet && {
      version: versionOf(subscriber, usedSet),
      at: lastAcked?.at,
      published: lastAcked?.published,
      set: hadOf(subscriber, usedSet),
      names: confirmedNames(subscriber),
    },
    lackedSince: lackedBy(inFlight, sentSet, wanted),
    rejected: rejection,
    inFlightCount: inFlight.length,
    inFlightSets: inFlight.length < maxInFlight ? inFlight.map(({ set }) => set) : undefined,
    waits,
    untoldTtls: reports.ttl(type) || wanted === undefined ? 0 : perishable(subscription, wanted).length,
  };
}

/** The time since which it lacks something: of the oldest change in flight, or else of the first that was not sent. */
function lackedBy(
  inFlight: readonly NumberedResponse[],
  sentSet: ResourceSet,
  wanted: ResourceSet | undefined,
): number | undefined {
  const [first, ...more] = inFlight;
  const published = first && firstPublished(first, more);
  return published ?? (wanted && lackedSince(sentSet, wanted));
}

/**
 * The version of the set that a client uses. If it rejected a part of a response, no response had its set; then it is
 * the version that it acknowledged last.
 */
function versionOf(subscriber: Subscriber, usedSet: ResourceSet): Version {
  return answeredBy(subscriber).lastGood.size === 0 ? usedSet.version : (subscriber.exchange.lastAcked?.version ?? "");
}

/**
 * Whether the client uses exactly its target in all types that it asks for, apart from removed resources that stay for
 * now (`Ordering.meanwhile`).
 */
export function areInSync(stream: OrderedStream, wanted: Snapshot, ordering: Ordering | undefined): boolean {
  for (const subscriber of stream.subscribers) {
    const needed = ordering?.meanwhile(stream, subscriber, wanted) ?? wanted.of(subscriber.type);
    if (!isInSync(subscriber, needed)) return false;
  }
  return true;
}

function isInSync(subscriber: Subscriber, needed: ResourceSet): boolean {
  const {
    undecided,
    sent: { set: sentSet, pending, everything, mustAnswer },
    used: { set: usedSet, rejection },
  } = subscriber;
  // A client with a rejection is not in sync, even if it rejected a repetition of its own resources.
  if (sentSet !== needed || usedSet !== needed || rejection !== undefined) return false;
  return (
    pending.size === 0 &&
    !everything &&
    !mustAnswer &&
    undecided.names.size === 0 &&
    inFlightSinceAck(subscriber.exchange).length === 0
  );
}
