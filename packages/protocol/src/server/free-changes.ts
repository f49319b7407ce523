import type { Resource } from "@xdskit/api";
import { changeBetween } from "../change.js";
import type { Snapshot } from "../snapshot.js";
import type { Subscriber } from "./subscriber.js";

const naming = new WeakMap<readonly Resource[], boolean>();

/** Something among them names something. */
export function namesAny(resources: readonly Resource[]): boolean {
  let known = naming.get(resources);
  if (known === undefined) {
    known = resources.some(({ references }) => references.length > 0);
    naming.set(resources, known);
  }
  return known;
}

/**
 * Whether a change holds no stream of these subscribers back, whichever others are in its order, as long as they stand at `from` or `to`: nothing goes, nothing is named that may have to be warm
 * first, and nothing comes that is warmed on another stream.
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
    if (after.type.acknowledgedWarm && changeBetween(from.of(after.type), after).adds) return false;
  }
  return true;
}
