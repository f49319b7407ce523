import { performance } from "node:perf_hooks";
import { longestTimerMs } from "@xdskit/api";

/** The source of time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /**
   * Calls a function once, after so many milliseconds; returns a function that stops it. Does not keep the process
   * alive.
   */
  after(milliseconds: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    let timer: NodeJS.Timeout;
    const wait = (left: number) => {
      const rest = left - longestTimerMs;
      timer = setTimeout(rest > 0 ? () => wait(rest) : call, Math.min(left, longestTimerMs)).unref();
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
