import type { Clock } from "@xdskit/api";

/** A clock that only the test moves. */
export interface ManualClock extends Clock {
  /** Lets time go by, timer by timer. */
  advance(milliseconds: number): void;
  /** The milliseconds that are left of each waiting timer. */
  readonly waiting: readonly number[];
}

export function manualClock(): ManualClock {
  const timers = new Set<{ readonly at: number; readonly call: () => void }>();
  let now = 0;
  return {
    now: () => now,
    after(milliseconds, call) {
      const timer = { at: now + milliseconds, call };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.call();
      }
      now = end;
    },
    get waiting() {
      return Array.from(timers, ({ at }) => at - now).sort((a, b) => a - b);
    },
  };
}
