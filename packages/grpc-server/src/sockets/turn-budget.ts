import { createFairQueue, type SliceClock, systemSliceClock } from "../timing/fair-queue.js";

/** A source of bytes: a socket. */
export interface PausableSocket {
  pause(): unknown;
  resume(): unknown;
}

/** Shares each turn of the event loop among sockets. */
export interface TurnBudget {
  /** Whether `spend` would do the work of that source now. */
  hasTime(source: PausableSocket): boolean;
  /**
   * Does the work now or, if this turn of the event loop was spent on others, in a later one; until then nothing more
   * is read from the source. The work of one source is done in order. `isNew`: the connection is new; known ones do
   * not wait for all new ones.
   */
  spend(source: PausableSocket, isNew: boolean, work: () => void): void;
  /**
   * Does the work in a later turn in any case, after the work of the source that waits. Nothing more must be read
   * from the source.
   */
  defer(source: PausableSocket, work: () => void): void;
  /** Sources that wait. */
  readonly waiting: number;
}

/**
 * One turn of the event loop reads every readable socket, thousands when a fleet comes back at once; until it is over
 * no timer, no health check and no other stream gets its turn. So the work for their bytes may take `ms` milliseconds
 * in a turn. The rest waits, unread in the kernel but for one piece of each, and is done in slices.
 */
export function createTurnBudget(ms = 10, clock: SliceClock = systemSliceClock): TurnBudget {
  const works = new Map<PausableSocket, { readonly list: (() => void)[]; readonly isPaused: boolean }>();
  const queue = createFairQueue<PausableSocket>(workOn, { sliceMs: ms / 2, clock });
  /** When this turn is spent; undefined if nothing was read in it yet. */
  let end: number | undefined;

  function workOn(source: PausableSocket): void {
    const waiting = works.get(source);
    works.delete(source);
    if (waiting === undefined) return;
    for (const work of waiting.list) work();
    if (waiting.isPaused) source.resume();
  }
  function wait(source: PausableSocket, lane: "answers" | "changes", work: () => void, isPaused: boolean): void {
    works.set(source, { list: [work], isPaused });
    queue.add(source, lane);
  }

  function hasTime(source: PausableSocket): boolean {
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
    spend(source: PausableSocket, isNew: boolean, work: () => void): void {
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
    defer(source: PausableSocket, work: () => void): void {
      const before = works.get(source);
      if (before === undefined) wait(source, "answers", work, false);
      else before.list.push(work);
    },
    get waiting(): number {
      return works.size;
    },
  };
}
