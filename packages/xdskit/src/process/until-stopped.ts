import { setTimeout as delay } from "node:timers/promises";
import { listenForStop } from "./signals.js";

/** Where pages go, as a `Terminal` says it. */
interface PageReader {
  readonly drained?: (() => Promise<void>) | undefined;
  readonly closed?: Promise<void> | undefined;
}

/**
 * Looks, shows what it found, waits until there is room for more and then `intervalMs`, and looks again: until a signal
 * comes, the reader is gone, or `show` says that it is the end. A look that is under way then is not waited for.
 */
export async function untilStopped<Found>(
  { drained, closed }: PageReader,
  intervalMs: number,
  look: () => Promise<Found>,
  show: (found: Found) => "again" | "end",
): Promise<void> {
  const signals = listenForStop();
  const stopped = new AbortController();
  const { signal } = stopped;
  void Promise.race([signals.stop, ...(closed === undefined ? [] : [closed])]).then(() => stopped.abort());
  try {
    while (!signal.aborted) {
      const found = await foundBefore(signal, look());
      if (found === undefined || show(found.value) === "end") return;
      if (drained !== undefined) await foundBefore(signal, drained());
      await delay(intervalMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    signals.release();
  }
}

/**
 * What a look found, or undefined if the signal comes first. It leaves nothing behind: a promise that lasts would keep
 * every `Promise.race` with it, and what each of them found.
 */
function foundBefore<Found>(signal: AbortSignal, looking: Promise<Found>): Promise<{ value: Found } | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
    looking.then((value) => resolve({ value }), reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
