import type { Clock } from "@xdskit/api";

/** A clock whose time passes when a test says so. */
export interface ManualClock extends Clock {
  /** Lets time pass, timer by timer. */
  advance(milliseconds: number): void;
  /** Lets time pass in which nothing runs, as when the process is busy, and runs the timers only then. */
  skip(milliseconds: number): void;
  /** Timers that wait. */
  readonly waiting: number;
}

export function manualClock(): ManualClock {
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  let now = 0;
  function runUntil(end: number): void {
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) return;
      timers.delete(next);
      now = Math.max(now, next.at);
      next.callback();
    }
  }
  return {
    now: () => now,
    after(milliseconds, callback) {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      runUntil(end);
      now = end;
    },
    skip(milliseconds) {
      now += milliseconds;
      runUntil(now);
    },
    get waiting() {
      return timers.size;
    },
  };
}
