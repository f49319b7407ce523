import { createHistogram } from "node:perf_hooks";
import type { EventLoopBlock, EventLoopOptions, EventLoopStats, WorkDone } from "./event-loop-stats.js";
import { type LoopClock, type Pause, systemLoopClock } from "./loop-clock.js";

const mostRecent = 20;
const minuteMs = 60_000;
/** Where less than a tenth of the time is spent on work, it is enough to look a tenth as often until there is some: a process that only waits is not to wake up for it. */
const idleFactor = 10;

/** Measures how long the event loop works without coming around. */
export interface EventLoopWatch {
  stats(): EventLoopStats;
  /** There is something to do: from here on it is worth while to look. Costs nothing where that was known. */
  stir(): void;
  stop(): void;
}

/** A block that was noticed, and of which the garbage collection is still to be told. */
interface Noticed {
  readonly block: EventLoopBlock;
  readonly from: number;
  readonly to: number;
  /** Looks since. */
  looks: number;
}

/**
 * Looks at the event loop in intervals: what was between two looks and was not idle is a stretch of work that nothing could interrupt, or some
 * short ones that take no longer together than the interval. `work` are counters since the start, by which a block says what was done in it.
 */
export function createEventLoopWatch(
  { intervalMs, blockedMs }: EventLoopOptions,
  work: () => WorkDone,
  blocked: (block: EventLoopBlock) => void,
  clock: LoopClock = systemLoopClock,
): EventLoopWatch {
  const microseconds = createHistogram();
  const blocks = { work: 0, gc: 0 };
  const gc = { pauses: 0, ms: 0, longestMs: 0 };
  const recent: EventLoopBlock[] = [];
  let pauses: Pause[] = [];
  let noticed: Noticed[] = [];
  let blockedForMs = 0;
  let longestMs = 0;
  let longestCpuMs = 0;
  /** The longest of this minute and of the one before. */
  let minute = { since: clock.now(), now: 0, before: 0 };
  let last = look();
  let isResting = false;
  let isOver = false;

  function look() {
    return { at: clock.now(), idle: clock.idle(), cpu: clock.cpu(), work: work() };
  }

  function check(): void {
    tell();
    const next = look();
    const ms = next.at - last.at - (next.idle - last.idle);
    note(ms, next.at);
    longestCpuMs = Math.max(longestCpuMs, Math.min(ms, next.cpu - last.cpu));
    if (ms >= blockedMs) {
      const block = {
        at: new Date(),
        ms,
        gcMs: 0,
        cpuMs: next.cpu - last.cpu,
        work: difference(next.work, last.work),
      };
      noticed.push({ block, from: last.at, to: next.at, looks: 0 });
    }
    // Those of the last stretch may be told in the next.
    const since = noticed[0]?.from ?? last.at;
    if (pauses.length > 0) pauses = pauses.filter(({ start }) => start >= since);
    isResting = ms * idleFactor <= next.at - last.at;
    last = next;
    stopTimer = clock.after(isResting ? intervalMs * idleFactor : intervalMs, check);
  }

  function note(ms: number, at: number): void {
    if (at - minute.since >= minuteMs) {
      minute = { since: at, now: 0, before: at - minute.since >= 2 * minuteMs ? 0 : minute.now };
    }
    longestMs = Math.max(longestMs, ms);
    minute.now = Math.max(minute.now, ms);
    microseconds.record(Math.max(1, Math.round(ms * 1000)));
  }

  /** Two looks later, when the pauses in it were told as well: that takes the loop two turns. */
  function tell(): void {
    for (const each of noticed) each.looks += 1;
    for (const { block, from, to } of noticed.filter(({ looks }) => looks >= 2)) {
      const gcMs = pauses.reduce((sum, { start, ms }) => (start >= from && start <= to ? sum + ms : sum), 0);
      tellOne({ ...block, gcMs });
    }
    noticed = noticed.filter(({ looks }) => looks < 2);
  }

  function tellOne(block: EventLoopBlock): void {
    blocks[block.gcMs > block.ms / 2 ? "gc" : "work"] += 1;
    blockedForMs += block.ms;
    recent.push(block);
    if (recent.length > mostRecent) recent.shift();
    blocked(block);
  }

  let stopTimer = clock.after(intervalMs, check);
  const stopPauses = clock.pauses((pause) => {
    gc.pauses += 1;
    gc.ms += pause.ms;
    gc.longestMs = Math.max(gc.longestMs, pause.ms);
    pauses.push(pause);
  });

  const quantile = (percent: number) => microseconds.percentile(percent) / 1000;
  return {
    stats: () => ({
      blockedMs,
      blocks: { ...blocks },
      blockedForMs,
      longestMs,
      longestCpuMs,
      lastMinuteMs: Math.max(minute.now, minute.before),
      p50Ms: quantile(50),
      p99Ms: quantile(99),
      p999Ms: quantile(99.9),
      gc: { ...gc },
      recent: [...recent],
    }),
    stir() {
      if (!isResting || isOver) return;
      isResting = false;
      stopTimer();
      stopTimer = clock.after(intervalMs, check);
    },
    stop() {
      isOver = true;
      stopTimer();
      stopPauses();
    },
  };
}

function difference(after: WorkDone, before: WorkDone): WorkDone {
  return {
    streamsOpened: after.streamsOpened - before.streamsOpened,
    streamsClosed: after.streamsClosed - before.streamsClosed,
    requests: after.requests - before.requests,
    responses: after.responses - before.responses,
    configurations: after.configurations - before.configurations,
  };
}
