import { setTimeout as sleep } from "node:timers/promises";

/** The time for which a test waits for a final state: a busy machine is slow, a fault never ends. */
export const patienceMs = 30_000;

/** Waits until something holds, looking every few milliseconds; throws after `timeoutMs` with `what`. */
export async function waitFor(what: string | (() => string), holds: () => boolean, timeoutMs = patienceMs) {
  const end = Date.now() + timeoutMs;
  while (!holds()) {
    if (Date.now() > end) {
      throw new Error(`waited ${timeoutMs} ms in vain for: ${typeof what === "string" ? what : what()}`);
    }
    await sleep(2);
  }
}
