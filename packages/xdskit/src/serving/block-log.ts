import type { EventLoopBlock } from "@xdskit/server";
import type { Log } from "../output/log.js";

/** A server that is blocked over and over is not to be kept busy by saying so. Milliseconds. */
const pauseMs = 10_000;

/** Who asks, and when. */
export interface BlockLogOptions {
  /** Since when clients are served; undefined: not yet. Before that nobody waits for an answer: the first reading of a folder is one block. */
  readonly servesSince?: () => Date | undefined;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** Logs what blocked the event loop of a server: a warning at most every ten seconds, the others for `debug`, and so those where the machine gave no CPU. */
export function createBlockLog(
  log: Log,
  { servesSince = () => new Date(0), now = Date.now }: BlockLogOptions = {},
): (block: EventLoopBlock) => void {
  let last = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return ({ worker, at, ms, gcMs, cpuMs, work }) => {
    const whose = worker === undefined ? {} : { worker };
    const fields = { ...whose, ms: Math.round(ms), gcMs: Math.round(gcMs), cpuMs: Math.round(cpuMs), ...work };
    const since = servesSince();
    if (since === undefined || at.getTime() - ms < since.getTime()) {
      log.debug(fields, "the event loop was blocked before anybody was served");
      return;
    }
    // Most of the time the thread was not running at all: nothing of ours was to blame.
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
