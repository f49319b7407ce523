import { performance } from "node:perf_hooks";

/** What time is taken from, so that tests can set it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls a function once, after so many milliseconds; returns what stops it. Keeps no process alive. */
  after(milliseconds: number, call: () => void): () => void;
}

/** The longest time that Node's timers know, 24 days; a longer one would be over at once. */
const longestMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const rest = left - longestMs;
      timer = setTimeout(rest > 0 ? () => wait(rest) : call, Math.min(left, longestMs)).unref();
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
