import type { Clock } from "../clock.js";

/** Calls a function once after so many milliseconds, which may be `Infinity`; returns what takes that back. */
export type After = (ms: number, action: () => void) => () => void;

/** The longest time that Node's timers know, 24 days: what is to come later is looked at again then. */
const longest = 2 ** 31 - 1;

export function afterBy(clock: Clock): After {
  return (ms, action) => {
    // What is never to come needs no timer.
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    let stop = start(ms);
    function start(left: number): () => void {
      if (left <= longest) return clock.after(left, action);
      return clock.after(longest, () => {
        stop = start(left - longest);
      });
    }
    return () => stop();
  };
}
