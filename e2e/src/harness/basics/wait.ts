import { setTimeout as sleep } from "node:timers/promises";

/** How long to wait for something, and how often to look. Milliseconds. */
export interface Patience {
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/**
 * Calls `check` until it neither throws nor returns `false` or `undefined`, and resolves to what it returned. After
 * `withinMs` (default 12 s: below the 15 s after which Envoy goes on without what it waits for, which is no success) it
 * rejects with what was waited for and how the last check ended.
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | false | undefined> | T | false | undefined,
  patience: Patience = {},
): Promise<T> {
  const { withinMs = 12_000, everyMs = 50 } = patience;
  const started = performance.now();
  for (;;) {
    let last: string;
    try {
      const result = await check();
      if (result !== false && result !== undefined) return result;
      last = String(result);
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    if (performance.now() - started > withinMs) throw new Error(`waited ${withinMs} ms for: ${what}; last: ${last}`);
    await sleep(everyMs);
  }
}

/** Rejects when `promise` is not settled within this many milliseconds. */
export async function within<T>(what: string, withinMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${withinMs} ms for: ${what}`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lets time pass in which something must not happen. */
export const quiet = (ms: number): Promise<void> => sleep(ms);
