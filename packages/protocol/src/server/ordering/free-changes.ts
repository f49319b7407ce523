import { perObject, type Resource } from "@xdskit/api";
import { changeBetween } from "../../model/sets/change.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";
import { mustBeThere } from "../../planning/going-and-coming.js";
import type { Subscriber } from "../state/subscriber.js";

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
