import type { Snapshot } from "../../model/snapshot.js";

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** A number that no other object has: for keys of caches. */
export function numberOf(thing: object): number {
  let number = numbers.get(thing);
  if (number === undefined) {
    number = ++lastNumber;
    numbers.set(thing, number);
  }
  return number;
}

/** By the last snapshot of each list. Weak, or each list would hold the one before. */
const lists = new WeakMap<Snapshot, WeakRef<readonly Snapshot[]>[]>();

/** How many lists are remembered that end with the same snapshot. */
const mostLists = 8;

/** The same list for all who remember these snapshots, so that lists compare by identity. It must not be empty. */
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
