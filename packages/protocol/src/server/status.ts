import type { ApiVersion, ResourceType, Version } from "@xdskit/api";
import type { NameSet } from "../name-set.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import type { Subscription } from "../subscription.js";
import type { Wait } from "../wait.js";
import type { Rejection } from "./client-use.js";
import { perishable } from "./heartbeats.js";
import { mostOutstanding, saidBy, unanswered } from "./holding.js";
import { hadOf, namesHeard } from "./just-asked.js";
import type { OrderedStream } from "./ordered-stream.js";
import type { Ordering } from "./ordering.js";
import type { Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";

/** What is known of one type on one stream. Sets are shared: reading them costs nothing, walking them what they hold. */
export interface TypeStatus {
  readonly type: ResourceType;
  readonly api: ApiVersion;
  readonly subscription: Subscription;
  /** What the newest snapshot has; undefined before there is one. */
  readonly wanted: ResourceSet | undefined;
  /** The same, or where the client only has removed resources besides, that stay because connections drain or because it asks for them: what it has. That is enough to be settled. */
  readonly meanwhile: ResourceSet | undefined;
  /** The last response, and the set that the client was brought to since; `at` in milliseconds of the machine's time. */
  readonly sent: { readonly version: Version; readonly at: number; readonly set: ResourceSet } | undefined;
  /**
   * The set that the client is known to use, and when it last acknowledged something; `at` is undefined where it had the set already when it connected. `names`: those of its names of
   * which that says something, and not the ones that it asked for since.
   */
  readonly acknowledged:
    | {
        readonly version: Version;
        readonly at: number | undefined;
        readonly set: ResourceSet;
        readonly names: NameSet;
      }
    | undefined;
  /** The last rejection, until the client uses something else in the place of all that it was about. */
  readonly rejected: Rejection | undefined;
  /** How many responses are not answered, neither by themselves nor by what was acknowledged since, however long ago they were sent. */
  readonly outstanding: number;
  /** The set to which each of them brings the client, the oldest first; undefined where there are so many that the oldest were forgotten. */
  readonly onTheirWay: readonly ResourceSet[] | undefined;
  readonly waits: readonly Wait[];
  /** How many resources that it is to have have a TTL that it is not told (`TtlPolicy`). */
  readonly untoldTtls: number;
}

/** What is known of a stream, of each type that it asks for. `newest`: what its client is to have; `told`: what it is told. */
export function statusesOf(
  stream: OrderedStream,
  newest: Snapshot | undefined,
  ordering: Ordering | undefined,
  told: Told,
): readonly TypeStatus[] {
  return stream.subscribers.map((subscriber) => {
    const wanted = newest?.of(subscriber.type);
    const meanwhile = (newest && ordering?.meanwhile(stream, subscriber, newest)) ?? wanted;
    return statusOf(subscriber, wanted, meanwhile, ordering?.waitsOf(stream, subscriber) ?? [], told);
  });
}

function statusOf(
  subscriber: Subscriber,
  wanted: ResourceSet | undefined,
  meanwhile: ResourceSet | undefined,
  waits: readonly Wait[],
  told: Told,
): TypeStatus {
  const { type, api, subscription, lastSent, held, ackedLast } = subscriber;
  const { acked, rejection } = saidBy(subscriber);
  const outstanding = unanswered(subscriber);
  return {
    type,
    api,
    subscription,
    wanted,
    meanwhile,
    sent: lastSent && { version: lastSent.version, at: lastSent.at, set: held },
    acknowledged: acked && {
      version: versionOf(subscriber, acked),
      at: ackedLast?.at,
      set: hadOf(subscriber, acked),
      names: namesHeard(subscriber),
    },
    rejected: rejection,
    outstanding: outstanding.length,
    onTheirWay: outstanding.length < mostOutstanding ? outstanding.map(({ set }) => set) : undefined,
    waits,
    untoldTtls: told.ttl(type) || wanted === undefined ? 0 : perishable(subscription, wanted).length,
  };
}

/** The version of what a client uses. Where it uses a set that no response had, since it rejected a part of one, it is the version that it acknowledged last. */
function versionOf(subscriber: Subscriber, acked: ResourceSet): Version {
  return saidBy(subscriber).instead.size === 0 ? acked.version : (subscriber.ackedLast?.version ?? "");
}

/** The client uses exactly what it is to have, of all that it asks for, but for what stays for now (`Ordering.meanwhile`). */
export function areSettled(stream: OrderedStream, newest: Snapshot, ordering: Ordering | undefined): boolean {
  for (const subscriber of stream.subscribers) {
    const needed = ordering?.meanwhile(stream, subscriber, newest) ?? newest.of(subscriber.type);
    if (!isSettled(subscriber, needed)) return false;
  }
  return true;
}

function isSettled(subscriber: Subscriber, wanted: ResourceSet): boolean {
  const { held, acked, owed, everything, mustAnswer, undecided, rejection } = subscriber;
  // Also of what it had, and rejected as it came once more.
  if (held !== wanted || acked !== wanted || rejection !== undefined) return false;
  return owed.size === 0 && !everything && !mustAnswer && undecided.size === 0 && unanswered(subscriber).length === 0;
}
