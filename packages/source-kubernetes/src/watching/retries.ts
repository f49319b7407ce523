import { setTimeout as delay } from "node:timers/promises";
import { type Backoff, createWaits } from "@xdskit/api";

/** The waits between attempts that fail one after the other. */
export interface Retries {
  /** `afterMs`: the least that the server wants. Resolves at once if the signal is aborted. */
  wait(signal: AbortSignal, afterMs: number | undefined): Promise<void>;
  /** An attempt succeeded. */
  reset(): void;
}

const backoff: Backoff = { firstMs: 375, factor: 2, maxMs: 22_500, jitter: 1 / 3 };

/** Half a second to half a minute, by chance down to a half of it: who comes back is not asked by all at once. */
export function createRetries(): Retries {
  const { next, reset } = createWaits(backoff, Math.random);
  return {
    async wait(signal, afterMs = 0) {
      await delay(Math.max(afterMs, next()), undefined, { signal, ref: false }).catch(() => {});
    },
    reset,
  };
}
