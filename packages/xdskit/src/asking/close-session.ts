import { setTimeout as delay } from "node:timers/promises";
import type { Terminal } from "../output/terminal.js";
import type { ClientSession } from "./client-session.js";

/** A stop takes at most 5 s: the streams and the pending output get this, everything else the rest. */
export const stopMs = 3_000;

/**
 * Ends the streams cleanly, and lets the pending output reach standard output, for this many milliseconds after the
 * command was asked to stop, or from now on if it was not.
 */
export async function closed(
  session: ClientSession | undefined,
  terminal: Terminal,
  stop: Promise<unknown>,
  ms: number | undefined,
): Promise<void> {
  const done = Promise.allSettled([session?.close()]).then(() => terminal.flushed?.());
  const waited = new AbortController();
  const { signal } = waited;
  const patience = () => delay(stopMs, undefined, { signal }).catch(() => {});
  await Promise.race([done, ms === undefined ? stop.then(patience) : delay(ms, undefined, { signal }).catch(() => {})]);
  waited.abort();
}
