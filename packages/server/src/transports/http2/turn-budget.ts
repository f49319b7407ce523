import { createFairQueue, type SliceClock, systemSliceClock } from "../../fair-queue.js";

/** Who bytes are read from: a socket. */
export interface Source {
  pause(): unknown;
  resume(): unknown;
}

/** Shares each turn of the event loop among those who are read from. */
export interface TurnBudget {
  /**
   * Does the work now, or, where this turn of the event loop was spent on others, in a later one: until then nothing more is read from the source. What
   * comes of one source is done in order. `isNew`: nobody knows it yet; those that are known do not wait until all that are new were seen to.
   */
  spend(source: Source, isNew: boolean, work: () => void): void;
  /** Whether `spend` would do the work of that source now: then it may as well be done without. */
  hasTime(source: Source): boolean;
  /** Does the work in a later turn in any case, behind what waits of the source, of which nothing more is to be read. */
  defer(source: Source, work: () => void): void;
  /** Sources that wait. */
  readonly waiting: number;
}

/**
 * One turn of the event loop reads every socket that is readable, thousands when a fleet comes back at once, and until it is over no timer, no health check
 * and no other stream gets its turn. So what their bytes cause may take `ms` milliseconds in a turn; the rest waits, unread in the kernel
 * but for one piece of each, and is done in slices.
 */
export function createTurnBudget(ms = 10, clock: SliceClock = systemSliceClock): TurnBudget {
  const works = new Map<Source, { readonly list: (() => void)[]; readonly isPaused: boolean }>();
  const queue = createFairQueue<Source>(workOn, { sliceMs: ms / 2, clock });
  /** When this turn is spent; undefined: nothing was read in it yet. */
  let end: number | undefined;

  function workOn(source: Source): void {
    const waiting = works.get(source);
    works.delete(source);
    if (waiting === undefined) return;
    for (const work of waiting.list) work();
    if (waiting.isPaused) source.resume();
  }
  function wait(source: Source, lane: "answers" | "changes", work: () => void, isPaused: boolean): void {
    works.set(source, { list: [work], isPaused });
    queue.add(source, lane);
  }

  function hasTime(source: Source): boolean {
    if (works.size > 0 && works.has(source)) return false;
    if (end !== undefined) return clock.now() < end;
    end = clock.now() + ms;
    clock.later(over);
    return true;
  }
  function over(): void {
    end = undefined;
  }

  return {
    hasTime,
    spend(source, isNew, work) {
      if (hasTime(source)) {
        work();
        return;
      }
      const before = works.get(source);
      if (before !== undefined) {
        before.list.push(work);
        return;
      }
      source.pause();
      wait(source, isNew ? "changes" : "answers", work, true);
    },
    defer(source, work) {
      const before = works.get(source);
      if (before === undefined) wait(source, "answers", work, false);
      else before.list.push(work);
    },
    get waiting() {
      return works.size;
    },
  };
}
