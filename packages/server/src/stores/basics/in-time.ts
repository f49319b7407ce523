import { setTimeout as delay } from "node:timers/promises";

/** The longest that a start, or a node that came, waits for a slow store each time, in milliseconds. */
const maxMs = 2_000;

/** How much longer it waits for work that ends early because it is late, in milliseconds. */
const lateMs = 500;

/**
 * Settles as the work does, or resolves once nobody must wait any longer. Some time before that `late` is aborted,
 * so that the work can end with what it has.
 */
export async function inTime(work: (late: AbortSignal) => Promise<unknown> | undefined): Promise<void> {
  const late = new AbortController();
  const isDone = new AbortController();
  const tooLong = delay(maxMs, undefined, { signal: isDone.signal })
    .then(() => {
      late.abort();
      return delay(lateMs, undefined, { signal: isDone.signal });
    })
    .catch(() => {});
  try {
    await Promise.race([work(late.signal), tooLong]);
  } finally {
    isDone.abort();
    late.abort();
  }
}
