import { perObject, type Resource } from "@xdskit/api";
import { changeBetween } from "../../model/sets/change.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { mustBeThere } from "../../planning/going-and-coming.js";
import { stillInFlight } from "../acknowledgements/in-flight.js";
import type { Subscriber } from "../state/subscriber.js";
import { isFirst } from "./shared-stage.js";

/** Whether one of the resources names another one. */
export const namesAny = perObject((resources: readonly Resource[]): boolean =>
  resources.some(({ references }) => references.length > 0),
);

/**
 * Whether a change holds nothing back on the stream of these subscribers. That is so if it removes nothing, if its new
 * resources name no others, and if no new cluster or listener (`mustBeThere`) comes on another stream. The other
 * streams of the order must stand at `from` or `to`.
 */
export function isFree(subscribers: readonly Subscriber[], from: Snapshot, to: Snapshot): boolean {
  let changes = false;
  for (const { type } of subscribers) {
    const [before, after] = [from.of(type), to.of(type)];
    if (before === after) continue;
    const { removed, upserted } = changeBetween(before, after);
    if (removed.length > 0 || namesAny(upserted)) return false;
    changes = true;
  }
  if (!changes) return true;
  for (const after of to.sets.values()) {
    if (mustBeThere(after.type) && changeBetween(from.of(after.type), after).adds) return false;
  }
  return true;
}

/** Whether a resource that is new to the client, or changed, names others. */
export function namesOthers({ type, sent: { set: sentSet } }: Subscriber, wanted: Snapshot): boolean {
  const current = wanted.of(type);
  return sentSet !== current && namesAny(changeBetween(sentSet, current).upserted);
}

/**
 * Whether anything may wait on the stream of the subscribers `mine`: a fast check. Most changes remove nothing, bring
 * no new cluster, and name nothing while clusters warm on another stream. `all`: the subscribers of all streams of the
 * order. `isForNames`: what names others may have to wait.
 */
export function mayWait(
  mine: readonly Subscriber[],
  all: readonly Subscriber[],
  wanted: Snapshot,
  isForNames: boolean,
): boolean {
  let changes = false;
  for (const subscriber of mine) {
    const {
      type,
      sent: { set: sentSet },
    } = subscriber;
    const current = wanted.of(type);
    if (sentSet === current) continue;
    // The client may use resources from an earlier stream.
    if (isFirst(subscriber)) return true;
    const { removed, upserted } = changeBetween(sentSet, current);
    if (removed.length > 0 || (isForNames && namesAny(upserted))) return true;
    changes ||= upserted.length > 0;
  }
  if (!changes) return false;
  for (const subscriber of all) {
    const {
      type,
      subscription,
      used: { set: usedSet, rejection },
    } = subscriber;
    if (!mustBeThere(type) || usedSet === undefined || !subscription.wildcard) continue;
    const current = wanted.of(type);
    // The client may have made the removals of a response that it rejected, so the removed resources are new to it
    // again.
    if (rejection?.usesRest === false || changeBetween(usedSet, current).adds) return true;
    for (const { set } of stillInFlight(subscriber)) if (changeBetween(set, current).adds) return true;
  }
  return false;
}
