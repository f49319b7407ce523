import { emptyResourceSet, type ResourceSet, ResourceSets } from "../sets/resource-set.js";
import type { Snapshot } from "./snapshot.js";

/**
 * When one change of a type was published, and the one after it. Names no set, so it keeps none alive; and no other
 * change, or a set that a client has for long would keep all since.
 */
interface PublishedChange {
  /** Milliseconds of the owner's clock. */
  readonly at: number;
  nextAt: number | undefined;
  /**
   * Some clients keep a set for longer than others, such as those of a part of a snapshot. The id of the last such set
   * before this one, and when it was replaced for these clients.
   */
  readonly kept: { readonly id: number; readonly until: number } | undefined;
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
    let kept = known?.kept;
    if (known !== undefined) {
      known.nextAt ??= at;
      if (last !== undefined && known.nextAt !== at) kept = { id: ResourceSets.id(last), until: at };
    } else if (last !== undefined && last.size > 0)
      changes.set(last, { at: Number.NEGATIVE_INFINITY, nextAt: at, kept: undefined });
    // What is noted already is also what others are told.
    if (changes.get(set)?.at !== at) changes.set(set, { at, nextAt: undefined, kept });
  }
}

/**
 * The time since which a client lacks something that was published, if it was brought to `sent` and must have `wanted`:
 * the time at which the first change after `sent` was published. If `sent` is not a published set, such as a stage on
 * the way, it is the time of `wanted`. Undefined if the client lacks nothing, or nobody noted the time.
 */
export function lackedSince(sent: ResourceSet, wanted: ResourceSet): number | undefined {
  if (sent === wanted) return undefined;
  const last = changes.get(wanted);
  const isKept = last?.kept?.id === ResourceSets.id(sent);
  const at = isKept ? last?.kept?.until : (changes.get(sent)?.nextAt ?? last?.at);
  return at === Number.NEGATIVE_INFINITY ? undefined : at;
}
