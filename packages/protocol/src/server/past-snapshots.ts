import { ResourceSets } from "../resource-set.js";
import type { Snapshot } from "../snapshot.js";

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** A number that no other snapshot, or whatever it is, has: for keys of caches. */
export function numberOf(thing: object): number {
  let number = numbers.get(thing);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(thing, number);
  }
  return number;
}

/** The number of the snapshot with which one was shortened last: once is enough for all clients. */
const shortened = new WeakMap<Snapshot, number>();

/** Lets go of what there was between a snapshot that is still remembered and the newest. */
export function shortenSnapshot(snapshot: Snapshot, newest: Snapshot): void {
  const number = numberOf(newest);
  if (snapshot === newest || shortened.get(snapshot) === number) return;
  shortened.set(snapshot, number);
  for (const set of snapshot.sets.values()) if (set !== newest.of(set.type)) ResourceSets.shorten(set);
}

/** By the last of them. Weak, or each list would hold the one before. */
const lists = new WeakMap<Snapshot, WeakRef<readonly Snapshot[]>[]>();

/** Lists that end with the same snapshot, and are remembered. */
const mostLists = 8;

/** The list with these snapshots that others have, too, by which they tell that they came the same way; not empty. */
export function sharedList(snapshots: readonly Snapshot[]): readonly Snapshot[] {
  const last = snapshots[snapshots.length - 1] as Snapshot;
  let known = lists.get(last);
  if (known === undefined) {
    known = [];
    lists.set(last, known);
  }
  for (const ref of known) {
    const list = ref.deref();
    if (list?.length === snapshots.length && list.every((one, index) => one === snapshots[index])) return list;
  }
  if (known.length >= mostLists) known.shift();
  known.push(new WeakRef(snapshots));
  return snapshots;
}
