import { emptyResourceSet, type ResourceSet } from "./resource-set.js";
import type { Snapshot } from "./snapshot.js";

/** One change of a type: when it was published, and the one after it. Names no set, so it keeps none alive. */
interface PublishedChange {
  /** Milliseconds of the owner's clock. */
  readonly at: number;
  next: PublishedChange | undefined;
}

const changes = new WeakMap<ResourceSet, PublishedChange>();

/**
 * Notes that `after` took the place of `before` as what clients must have, at a time in milliseconds of the owner's
 * clock. Costs one step for each type, whatever a type holds.
 */
export function notePublished(before: Snapshot, after: Snapshot, at: number): void {
  for (const [url, set] of after.sets) {
    const last = before.sets.get(url);
    // The empty set of a type is one for all, and says nothing of a lineage.
    if (set === last || set === emptyResourceSet(set.type)) continue;
    const change: PublishedChange = { at, next: undefined };
    const known = last && changes.get(last);
    if (known !== undefined) known.next ??= change;
    else if (last !== undefined && last.size > 0) changes.set(last, { at: Number.NEGATIVE_INFINITY, next: change });
    changes.set(set, change);
  }
}

/**
 * Since when a client lacks something that was published, if it was brought to `sent` and must have `wanted`: when the
 * first change after `sent` was published. Where `sent` is not a published set, such as a stage on the way, it is when
 * `wanted` was. Undefined: it lacks nothing, or nobody noted when.
 */
export function lackedSince(sent: ResourceSet, wanted: ResourceSet): number | undefined {
  if (sent === wanted) return undefined;
  const at = (changes.get(sent)?.next ?? changes.get(wanted))?.at;
  return at === Number.NEGATIVE_INFINITY ? undefined : at;
}
