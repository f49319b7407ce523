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
  /** Sources that wait. */
  readonly waiting: number;
}

/**
 * One turn of the event loop reads every socket that is readable, thousands when a fleet comes back at once, and until it is over no timer, no health check
 * and no other stream gets its turn. So what their bytes cause may take `ms` milliseconds in a turn; the rest waits, unread in the kernel
 * but for one piece of each, and is done in slices.
 */
export function createTurnBudget(ms = 10, clock: SliceClock = systemSliceClock): TurnBudget {
  const works = new Map<Source, (() => void)[]>();
  const queue = createFairQueue<Source>(workOn, ms / 2, clock);
  /** When this turn is spent; undefined: nothing was read in it yet. */
  let end: number | undefined;

  function workOn(source: Source): void {
    const waiting = works.get(source) ?? [];
    works.delete(source);
    for (const work of waiting) work();
    source.resume();
  }

  return {
    spend(source, isNew, work) {
      const before = works.get(source);
      if (before !== undefined) {
        before.push(work);
        return;
      }
      if (end === undefined) {
        end = clock.now() + ms;
        clock.later(() => {
          end = undefined;
        });
      } else if (clock.now() >= end) {
        source.pause();
        works.set(source, [work]);
        queue.add(source, isNew ? "changes" : "answers");
        return;
      }
      work();
    },
    get waiting() {
      return works.size;
    },
  };
}
