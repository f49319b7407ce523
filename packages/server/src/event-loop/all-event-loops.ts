import type { EventLoopStats } from "./event-loop-stats.js";

const mostRecent = 20;

/**
 * The event loops of several threads as one: counts are summed up, and of lengths the largest is taken. Undefined for
 * none.
 */
export function allEventLoops(loops: readonly EventLoopStats[]): EventLoopStats | undefined {
  const [first, ...others] = loops;
  return first && others.reduce(both, first);
}

/** What is left of the event loop of a thread that has ended. */
export function endedEventLoop(loop: EventLoopStats): EventLoopStats {
  return { ...loop, lastMinuteMs: 0, p50Ms: 0, p99Ms: 0, p999Ms: 0 };
}

function both(a: EventLoopStats, b: EventLoopStats): EventLoopStats {
  const worst = (what: "longestMs" | "longestCpuMs" | "lastMinuteMs" | "p50Ms" | "p99Ms" | "p999Ms") =>
    Math.max(a[what], b[what]);
  return {
    blockedMs: a.blockedMs,
    blocks: { work: a.blocks.work + b.blocks.work, gc: a.blocks.gc + b.blocks.gc },
    blockedForMs: a.blockedForMs + b.blockedForMs,
    longestMs: worst("longestMs"),
    longestCpuMs: worst("longestCpuMs"),
    lastMinuteMs: worst("lastMinuteMs"),
    p50Ms: worst("p50Ms"),
    p99Ms: worst("p99Ms"),
    p999Ms: worst("p999Ms"),
    gc: {
      pauses: a.gc.pauses + b.gc.pauses,
      ms: a.gc.ms + b.gc.ms,
      longestMs: Math.max(a.gc.longestMs, b.gc.longestMs),
    },
    recent: [...a.recent, ...b.recent].sort((one, two) => one.at.getTime() - two.at.getTime()).slice(-mostRecent),
  };
}
