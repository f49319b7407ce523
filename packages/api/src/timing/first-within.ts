import { setImmediate as turn } from "node:timers/promises";
import { longestTimerMs } from "./longest-timer.js";

/**
 * Resolves with the first of several promises, or to undefined once this many milliseconds are over; undefined: never.
 * Until then it keeps the process alive: if a server is away and standard input has ended, nothing else may.
 *
 * On a busy machine the time is over before what had come by then is read, such as a refused connection. That takes one
 * turn of the event loop, and telling it another one: what is told by then counts.
 */
export async function firstWithin<Result>(
  ms: number | undefined,
  ends: readonly (Promise<Result> | undefined)[],
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    const over = async () => {
      for (let turns = 0; turns < 2; turns += 1) await turn();
      resolve(undefined);
    };
    timer = setTimeout(() => ms !== undefined && void over(), Math.min(ms ?? longestTimerMs, longestTimerMs));
  });
  try {
    return await Promise.race([...ends.filter((end) => end !== undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
