import type { Reference } from "@xdskit/api";
import { changeBetween } from "../change.js";
import { namesLess } from "../named-by.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { covers } from "../subscription.js";
import { onTheirWay } from "./holding.js";
import type { OrderingTimes } from "./ordering-times.js";
import { nothingDrains, type Subscriber } from "./subscriber.js";

/*
 * Listeners that were replaced or removed go on to serve their connections for a while, and no acknowledgement says until when (Envoy on the wire, 14). So what only they name, such as
 * the routes and clusters of an old listener, stays for `linger` milliseconds after everything that the new listener names is in use.
 */

/** How many sets are remembered; beyond this the oldest is taken to have drained. */
const mostDraining = 16;

/** The client went on from the set `before` to what is `acked` now: if resources of it are gone or name less, they drain from `now` on (milliseconds). */
export function noteDraining(subscriber: Subscriber, before: ResourceSet, now: number): void {
  const { acked } = subscriber;
  if (acked === undefined || acked === before) return;
  const successors: Reference[] = [];
  let dropped = false;
  for (const { before: old, after } of changeBetween(before, acked).differences.values()) {
    if (old === undefined || !covers(subscriber.subscription, old)) continue;
    if (!namesLess(old, after)) continue;
    dropped = true;
    successors.push(...(after?.references ?? []));
  }
  if (!dropped) return;
  const draining = [...subscriber.draining, { set: before, successors, since: now, until: undefined }];
  subscriber.draining = draining.slice(-mostDraining);
}

/** Forgets what has drained by now. `all`: the subscribers of all streams of the order, which say whether the successors are in use. */
export function drain(
  subscriber: Subscriber,
  all: readonly Subscriber[],
  wanted: Snapshot,
  now: number,
  times: OrderingTimes,
): void {
  if (subscriber.draining.length === 0) return;
  for (const each of subscriber.draining) {
    if (each.until !== undefined) continue;
    const inUse = each.successors.every((reference) => isInUse(reference, all, wanted));
    if (inUse) each.until = now + times.linger;
    // A successor that is never answered is taken to be in use once the answer is late.
    else if (now >= each.since + times.acknowledgement) each.until = each.since + times.acknowledgement + times.linger;
  }
  const left = subscriber.draining.filter(({ until }) => until === undefined || until > now);
  subscriber.draining = left.length === 0 ? nothingDrains : left;
}

/** Whether the client uses what a new listener names: it acknowledged it, or it takes it from elsewhere (nobody asks for it here, or it does not exist). */
function isInUse({ type, name }: Reference, all: readonly Subscriber[], wanted: Snapshot): boolean {
  const askers = all.filter((one) => one.type.typeUrl === type);
  const [first] = askers;
  const there = first && wanted.of(first.type).named(name);
  if (there === undefined || there.length === 0) return true;
  return askers.some((asker) => {
    const { acked, owed, subscription } = asker;
    if (owed.has(name) || onTheirWay(asker).length > 0) return false;
    return there.some((resource) => covers(subscription, resource)) && (acked?.named(name).length ?? 0) > 0;
  });
}

/** When the next of these is to be looked at, in milliseconds; `Infinity` for never. */
export function nextOfDraining({ draining }: Subscriber, times: OrderingTimes): number {
  if (draining.length === 0) return Number.POSITIVE_INFINITY;
  return Math.min(...draining.map(({ since, until }) => until ?? since + times.acknowledgement));
}
