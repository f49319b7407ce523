import { performance } from "node:perf_hooks";
import { longestTimerMs } from "@xdskit/api";

/** Time as the server sees it; tests put another in its place. */
export interface Clock {
  /** Milliseconds since some moment, never going back. */
  now(): number;
  /**
   * Calls back once after this many milliseconds, which may be `Infinity`, unless the returned function is called
   * first. It keeps no process alive.
   */
  after(milliseconds: number, callback: () => void): () => void;
}

/** The clock of this process; its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    // An infinite wait needs no timer.
    if (milliseconds === Number.POSITIVE_INFINITY) return () => {};
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const rest = left - longestTimerMs;
      timer = setTimeout(rest > 0 ? () => wait(rest) : callback, Math.min(left, longestTimerMs)).unref();
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
