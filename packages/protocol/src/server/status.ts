import type { Version } from "@xdskit/api";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import type { Wait } from "../wait.js";
import { mostOutstanding, saidBy, unanswered } from "./holding.js";
import { hadOf, namesHeard } from "./just-asked.js";
import { perishable } from "./lifetimes.js";
import type { OrderedStream } from "./ordered-stream.js";
import type { Ordering } from "./ordering.js";
import type { Subscriber } from "./subscriber.js";
import type { Told } from "./told.js";
import type { TypeStatus } from "./type-status.js";

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
