/** Calls a function once after so many milliseconds; returns what takes that back. */
export type After = (ms: number, action: () => void) => () => void;

/** The longest time that Node's timers know, 24 days: what is to come later is looked at again then. */
const longest = 2 ** 31 - 1;

/** The real clock. It keeps no process alive. */
export const after: After = (ms, action) => {
  // What is never to come needs no timer.
  if (ms === Number.POSITIVE_INFINITY) return () => {};
  let timer = start(ms);
  function start(left: number): NodeJS.Timeout {
    const part = Math.min(left, longest);
    const next = left > part ? () => (timer = start(left - part)) : action;
    return setTimeout(next, part).unref();
  }
  return () => clearTimeout(timer);
};
