import { performance } from "node:perf_hooks";

/** Work waiting its turn, each item at most once. */
export interface FairQueue<Item> {
  /** Queues an item; one that waits already keeps its place. */
  add(item: Item): void;
  delete(item: Item): void;
  readonly size: number;
}

/**
 * Works through items in order of arrival, in slices: after `sliceMs` milliseconds the event loop gets its turn, so that five thousand
 * streams that take a change do not keep another stream's request, or a health check, waiting. It never starts within `add`:
 * what comes in one turn of the event loop (a burst of requests, two changes in a row) is worked off as one.
 */
export function createFairQueue<Item>(work: (item: Item) => void, sliceMs = 5): FairQueue<Item> {
  const waiting = new Set<Item>();
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.size === 0) return;
    scheduled = true;
    setImmediate(slice);
  }
  function slice(): void {
    scheduled = false;
    const end = performance.now() + sliceMs;
    for (const item of waiting) {
      waiting.delete(item);
      work(item);
      if (performance.now() >= end) break;
    }
    schedule();
  }
  return {
    add(item) {
      waiting.add(item);
      schedule();
    },
    delete: (item) => void waiting.delete(item),
    get size() {
      return waiting.size;
    },
  };
}
