import type { EventLoopBlock } from "@xdskit/server";
import type { Log } from "./log.js";

/** A server that is blocked again and again must not spend time on logging it. Milliseconds. */
const pauseMs = 10_000;
/** What people feel: one block of this length, or so much within the pause. Shorter ones are the work of a server. */
const longMs = 500;
const oftenMs = 2_000;

export interface BlockLogOptions {
  /**
   * Since when clients are served; undefined: not yet. Until then nobody waits for an answer, and reading a folder is
   * one block.
   */
  readonly servesSince?: () => Date | undefined;
  /** Milliseconds. */
  readonly now?: () => number;
}

/**
 * Logs blocks of the event loop: those that people feel as at most one warning every ten seconds, the others at
 * `debug`, as well as those where the machine gave no CPU.
 */
export function createBlockLog(
  log: Log,
  { servesSince = () => new Date(0), now = Date.now }: BlockLogOptions = {},
): (block: EventLoopBlock) => void {
  let last = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  let recent: { readonly at: number; readonly ms: number }[] = [];
  return ({ at, ms, gcMs, cpuMs, work }) => {
    const fields = { ms: Math.round(ms), gcMs: Math.round(gcMs), cpuMs: Math.round(cpuMs), ...work };
    const since = servesSince();
    if (since === undefined || at.getTime() - ms < since.getTime()) {
      log.debug("event-loop-blocked", fields, "the event loop was blocked before anybody was served");
      return;
    }
    // The thread was not running most of the time: the cause is outside.
    if (cpuMs < ms / 2) {
      log.debug("event-loop-blocked", fields, "the event loop did not come around: the machine had no CPU for it");
      return;
    }
    recent = [...recent.filter(({ at: time }) => now() - time < pauseMs), { at: now(), ms }];
    const isFelt = ms >= longMs || recent.reduce((sum, one) => sum + one.ms, 0) >= oftenMs;
    if (!isFelt || now() - last < pauseMs) {
      if (isFelt) unlogged += 1;
      log.debug("event-loop-blocked", fields, "the event loop was blocked");
      return;
    }
    last = now();
    log.warn(
      "event-loop-blocked",
      { ...fields, ...(unlogged > 0 ? { more: unlogged } : {}) },
      `the event loop was blocked${gcMs > ms / 2 ? ", mostly by garbage collection" : ""}`,
    );
    unlogged = 0;
  };
}
