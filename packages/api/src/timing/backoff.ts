/** The waits between attempts, in milliseconds (gRPC's A57). */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** A share of each wait, up or down: 0.2 is ±20 %. */
  readonly jitter: number;
}

/** gRPC's defaults. */
export const defaultBackoff: Backoff = { firstMs: 1_000, factor: 1.6, maxMs: 120_000, jitter: 0.2 };

/** The waits between attempts that fail one after the other. */
export interface Waits {
  /** The time from the start of the last attempt to that of the next, in milliseconds. */
  next(): number;
  /** An attempt was answered: the next wait is the first again. */
  reset(): void;
}

/** `random` gives numbers from 0 to 1. */
export function createWaits({ firstMs, factor, maxMs, jitter }: Backoff, random: () => number): Waits {
  let base = firstMs;
  return {
    next(): number {
      const wait = Math.min(base, maxMs);
      base = Math.min(wait * factor, maxMs);
      return wait * (1 + jitter * (2 * random() - 1));
    },
    reset() {
      base = firstMs;
    },
  };
}
