import { setTimeout as sleep } from "node:timers/promises";

/** The time for which a test waits for a final state: a busy machine is slow, a fault never ends. */
export const patienceMs = 30_000;

/** Waits until something holds, looking every few milliseconds; throws after `timeoutMs` with `what`. */
export async function waitFor(what: string, holds: () => boolean, timeoutMs = patienceMs): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for: ${what}`);
    await sleep(2);
  }
}

/** Resolves as a promise does, or rejects after `timeoutMs` with the name of the awaited thing. */
export async function within<T>(what: string, promise: Promise<T>, timeoutMs = patienceMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${timeoutMs} ms in vain for: ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
