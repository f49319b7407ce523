import { setTimeout as delay } from "node:timers/promises";

/** The waits between attempts that fail one after the other. */
export interface Retries {
  /** `afterMs`: the least that the server wants. Resolves at once if the signal is aborted. */
  wait(signal: AbortSignal, afterMs: number | undefined): Promise<void>;
  /** An attempt succeeded. */
  reset(): void;
}

const [firstMs, longestMs] = [500, 30_000];

/** Each is up to twice the one before, by chance: servers that come back are not asked by all at once. */
export function createRetries(): Retries {
  let next = firstMs;
  return {
    async wait(signal, afterMs = 0) {
      const ms = Math.max(afterMs, next * (0.5 + Math.random() / 2));
      next = Math.min(2 * next, longestMs);
      await delay(ms, undefined, { signal, ref: false }).catch(() => {});
    },
    reset() {
      next = firstMs;
    },
  };
}
