import { perObject } from "@xdskit/api";
import { maxAlternatives } from "../../model/basics/limits.js";
import type { Snapshot } from "../../model/snapshots/snapshot.js";

let lastNumber = 0;

/** A number that no other object has, for keys of caches. */
export const numberOf = perObject((_: object): number => ++lastNumber);

/** Known lists by their last snapshot. Weak, or each list would hold the one before. */
const listsOf = perObject((_: Snapshot): WeakRef<readonly Snapshot[]>[] => []);

/** Returns the same list for equal contents, so that lists compare by identity. The list must not be empty. */
export function sharedList(snapshots: readonly Snapshot[]): readonly Snapshot[] {
  const last = snapshots[snapshots.length - 1] as Snapshot;
  const known = listsOf(last);
  for (const ref of known) {
    const list = ref.deref();
    if (list?.length === snapshots.length && list.every((one, index) => one === snapshots[index])) return list;
  }
  if (known.length >= maxAlternatives) known.shift();
  known.push(new WeakRef(snapshots));
  return snapshots;
}
