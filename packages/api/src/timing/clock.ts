import { performance } from "node:perf_hooks";
import { longestTimerMs } from "./longest-timer.js";

/** Time as a server or a client sees it; tests put another in its place. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /**
   * Calls a function once after this many milliseconds, which may be `Infinity`, unless the returned function is called
   * first. It does not keep the process alive.
   */
  after(milliseconds: number, call: () => void): () => void;
}

/** The clock of this process; its timers do not keep it alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    // An infinite wait needs no timer.
    if (milliseconds === Number.POSITIVE_INFINITY) return () => {};
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const rest = left - longestTimerMs;
      timer = setTimeout(rest > 0 ? () => wait(rest) : call, Math.min(left, longestTimerMs)).unref();
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
