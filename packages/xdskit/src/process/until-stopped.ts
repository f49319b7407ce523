import { setTimeout as delay } from "node:timers/promises";
import { listenForStop } from "./signals.js";

/**
 * Looks, shows what it found, waits `intervalMs`, and looks again: until a signal comes, the reader is gone, or `show`
 * says that it is the end. A look that is under way then is not waited for.
 */
export async function untilStopped<Found>(
  { closed }: { readonly closed?: Promise<unknown> | undefined },
  intervalMs: number,
  look: () => Promise<Found>,
  show: (found: Found) => "again" | "end",
): Promise<void> {
  const signals = listenForStop();
  const stopped = new AbortController();
  const stop = Promise.race([signals.stop, ...(closed === undefined ? [] : [closed])]).then(() => stopped.abort());
  try {
    while (!stopped.signal.aborted) {
      const found = await Promise.race([look().then((value) => ({ value })), stop]);
      if (found === undefined || show(found.value) === "end") return;
      await delay(intervalMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  } finally {
    signals.release();
  }
}
