import type { EventLoopBlock } from "@xdskit/server";
import type { Log } from "../../output/log.js";

/** A server that is blocked again and again must not spend time on logging it. Milliseconds. */
const pauseMs = 10_000;

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
 * Logs blocks of the event loop: at most one warning every ten seconds, the others at `debug`, as well as those where
 * the machine gave no CPU.
 */
export function createBlockLog(
  log: Log,
  { servesSince = () => new Date(0), now = Date.now }: BlockLogOptions = {},
): (block: EventLoopBlock) => void {
  let last = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return ({ at, ms, gcMs, cpuMs, work }) => {
    const fields = { ms: Math.round(ms), gcMs: Math.round(gcMs), cpuMs: Math.round(cpuMs), ...work };
    const since = servesSince();
    if (since === undefined || at.getTime() - ms < since.getTime()) {
      log.debug(fields, "the event loop was blocked before anybody was served");
      return;
    }
    // The thread was not running most of the time: the cause is outside.
    if (cpuMs < ms / 2) {
      log.debug(fields, "the event loop did not come around: the machine had no CPU for it");
      return;
    }
    if (now() - last < pauseMs) {
      unsaid += 1;
      log.debug(fields, "the event loop was blocked");
      return;
    }
    last = now();
    log.warn(
      { ...fields, ...(unsaid > 0 ? { more: unsaid } : {}) },
      `the event loop was blocked${gcMs > ms / 2 ? ", mostly by garbage collection" : ""}`,
    );
    unsaid = 0;
  };
}
