import { performance } from "node:perf_hooks";

/** Work waiting its turn, each item at most once. */
export interface FairQueue<Item> {
  /**
   * Queues an item. One in `answers` is worked on in turn with those in `changes`: somebody who asks does not wait until thousands were
   * told of a change, nor the other way round. An item that waits keeps its place, unless it moves up from `changes` to `answers`.
   */
  add(item: Item, lane: "answers" | "changes"): void;
  delete(item: Item): void;
  readonly size: number;
}

/** What a slice is measured by, and what gives the event loop its turn; tests put another in its place. */
export interface SliceClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Calls back once the event loop had a turn. */
  later(callback: () => void): void;
}

/** Time in milliseconds, and the next turn of the event loop. */
export const systemSliceClock: SliceClock = {
  now: () => performance.now(),
  later: (callback) => void setImmediate(callback),
};

/**
 * Works through items in order of arrival, in slices: after `sliceMs` milliseconds the event loop gets its turn, so that five thousand
 * streams that take a change do not keep another stream's request, or a health check, waiting. It never starts within `add`:
 * what comes in one turn of the event loop (a burst of requests, two changes in a row) is worked off as one.
 */
export function createFairQueue<Item extends object | string | number>(
  work: (item: Item) => void,
  sliceMs = 5,
  clock = systemSliceClock,
): FairQueue<Item> {
  const answers = new Lane<Item>();
  const changes = new Lane<Item>();
  let scheduled = false;

  function schedule(): void {
    if (scheduled || answers.size + changes.size === 0) return;
    scheduled = true;
    clock.later(slice);
  }
  function slice(): void {
    scheduled = false;
    const end = clock.now() + sliceMs;
    while (workOnFirst(answers) || changes.size > 0) {
      workOnFirst(changes);
      if (clock.now() >= end) break;
    }
    schedule();
  }
  function workOnFirst(lane: Lane<Item>): boolean {
    const item = lane.take();
    if (item === undefined) return false;
    work(item);
    return true;
  }
  return {
    add(item, lane) {
      if (lane === "answers") {
        changes.delete(item);
        answers.add(item);
      } else if (!answers.has(item)) {
        changes.add(item);
      }
      schedule();
    },
    delete(item) {
      answers.delete(item);
      changes.delete(item);
    },
    get size() {
      return answers.size + changes.size;
    },
  };
}

/** Items in order of arrival, each once. */
class Lane<Item extends object | string | number> extends Set<Item> {
  /** Stands behind all that were taken: a new one would first have to step over the places that they leave, for each item of thousands anew. */
  #rest: Iterator<Item> | undefined;

  /** Takes the first out; undefined: there is none. */
  take(): Item | undefined {
    if (this.size === 0) {
      // Kept, it would hold on to what was in the set before that grew or shrank.
      this.#rest = undefined;
      return undefined;
    }
    this.#rest ??= this.values();
    // What was taken is out, and what comes later stands behind: there is always a next.
    const item = this.#rest.next().value as Item;
    this.delete(item);
    if (this.size === 0) this.#rest = undefined;
    return item;
  }
}
