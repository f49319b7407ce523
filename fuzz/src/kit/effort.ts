/**
 * Milliseconds of processor time that something takes. Unlike the time on the clock, a busy machine does not change it
 * much.
 */
export async function effortOf(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/**
 * Throws if something takes more processor time than `boundMs` three times: the collector or the compiler may disturb
 * one attempt.
 */
export async function assertEffort(what: string, boundMs: number, act: () => unknown): Promise<void> {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3; attempt++) {
    least = Math.min(least, await effortOf(act));
    if (least <= boundMs) return;
  }
  throw new Error(`${what} takes ${Math.round(least)} ms of processor time, more than ${Math.round(boundMs)}`);
}
