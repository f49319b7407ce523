import type { Reference } from "@xdskit/api";
import { changeBetween } from "../change.js";
import { namesLess } from "../named-by.js";
import type { ResourceSet } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";
import { covers } from "../subscription.js";
import { onTheirWay } from "./holding.js";
import type { OrderingTimes } from "./ordering-times.js";
import { nothingDrains, type Subscriber } from "./subscriber.js";

/** More at a time are not remembered: the oldest is taken for drained. */
const mostDraining = 16;

/** The client acknowledged what takes the place of `before`. */
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

/** Lets go of what has drained by now. */
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
    // Without an answer it is taken to be in use after the time in which one should have come.
    else if (now >= each.since + times.acknowledgement) each.until = each.since + times.acknowledgement + times.linger;
  }
  const left = subscriber.draining.filter(({ until }) => until === undefined || until > now);
  subscriber.draining = left.length === 0 ? nothingDrains : left;
}

/** A listener is in use once what it names is, as far as the client takes that from here. */
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

/** When the next of it changes, in milliseconds; `Infinity` for never. */
export function nextOfDraining({ draining }: Subscriber, times: OrderingTimes): number {
  if (draining.length === 0) return Number.POSITIVE_INFINITY;
  return Math.min(...draining.map(({ since, until }) => until ?? since + times.acknowledgement));
}
