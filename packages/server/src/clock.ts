import { performance } from "node:perf_hooks";

/** Time as the server sees it; tests put another in its place. */
export interface Clock {
  /** Milliseconds since some moment, never going back. */
  now(): number;
  /** Calls back once after so many milliseconds, which may be `Infinity`, unless what it returns is called before. Keeps no process alive. */
  after(milliseconds: number, callback: () => void): () => void;
}

/** The longest time that Node's timers know, 24 days; a longer one would be over at once. Milliseconds. */
export const longestTimerMs = 2 ** 31 - 1;

/** The clock of this process; its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    // What is never to come needs no timer.
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
