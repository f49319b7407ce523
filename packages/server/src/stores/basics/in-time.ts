import { setTimeout as delay } from "node:timers/promises";

/** The longest that a start waits for a slow store each time, in milliseconds. */
const mostMs = 2_000;

/** Settles as the work does, or resolves once a start must not wait any longer: then `late` is aborted. */
export async function inTime(work: (late: AbortSignal) => Promise<unknown> | undefined): Promise<void> {
  const late = new AbortController();
  const isDone = new AbortController();
  const tooLong = delay(mostMs, undefined, { signal: isDone.signal }).catch(() => {});
  try {
    await Promise.race([work(late.signal), tooLong]);
  } finally {
    isDone.abort();
    late.abort();
  }
}
