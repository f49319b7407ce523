import { performance } from "node:perf_hooks";

/** Time as the server sees it; tests put another in its place. */
export interface Clock {
  /** Milliseconds since some moment, never going back. */
  now(): number;
  /** Calls back once after so many milliseconds, unless what it returns is called before. Keeps no process alive. */
  after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};
