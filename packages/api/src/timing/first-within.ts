import { longestTimerMs } from "./longest-timer.js";

/**
 * Resolves with the first of several promises, or to undefined once this many milliseconds are over; undefined: never.
 * Until then it keeps the process alive: if a server is away and standard input has ended, nothing else may.
 */
export async function firstWithin<Result>(
  ms: number | undefined,
  ends: readonly (Promise<Result> | undefined)[],
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => ms !== undefined && resolve(undefined), Math.min(ms ?? longestTimerMs, longestTimerMs));
  });
  try {
    return await Promise.race([...ends.filter((end) => end !== undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
