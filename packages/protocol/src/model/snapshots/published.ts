import { emptyResourceSet, type ResourceSet } from "../sets/resource-set.js";
import type { Snapshot } from "./snapshot.js";

/**
 * When one change of a type was published, and the one after it. Names no set, so it keeps none alive; and no other
 * change, or a set that a client has for long would keep all since.
 */
interface PublishedChange {
  /** Milliseconds of the owner's clock. */
  readonly at: number;
  nextAt: number | undefined;
}

const changes = new WeakMap<ResourceSet, PublishedChange>();

/**
 * Notes that `after` replaced `before` as the clients' target, at a time in milliseconds of the owner's clock. Costs
 * one step for each type, whatever its size.
 */
export function notePublished(before: Snapshot, after: Snapshot, at: number): void {
  for (const [url, set] of after.sets) {
    const last = before.sets.get(url);
    // The empty set of a type is one for all, and belongs to no lineage.
    if (set === last || set === emptyResourceSet(set.type)) continue;
    const known = last && changes.get(last);
    if (known !== undefined) known.nextAt ??= at;
    else if (last !== undefined && last.size > 0) changes.set(last, { at: Number.NEGATIVE_INFINITY, nextAt: at });
    changes.set(set, { at, nextAt: undefined });
  }
}

/**
 * The time since which a client lacks something that was published, if it was brought to `sent` and must have `wanted`:
 * the time at which the first change after `sent` was published. If `sent` is not a published set, such as a stage on
 * the way, it is the time of `wanted`. Undefined if the client lacks nothing, or nobody noted the time.
 */
export function lackedSince(sent: ResourceSet, wanted: ResourceSet): number | undefined {
  if (sent === wanted) return undefined;
  const at = changes.get(sent)?.nextAt ?? changes.get(wanted)?.at;
  return at === Number.NEGATIVE_INFINITY ? undefined : at;
}
