import { createHistogram } from "node:perf_hooks";
import { maxFindings } from "@xdskit/api";
import type { EventLoopBlock, EventLoopOptions, EventLoopStats, WorkDone } from "./event-loop-stats.js";
import { type LoopClock, type Pause, systemLoopClock } from "./loop-clock.js";

const minuteMs = 60_000;
/**
 * If less than a tenth of the time is work, a tenth of the checks is enough. Checks of an idle server every 10 ms would
 * cost 1.3 % of a core, against 0.2 %.
 */
const idleFactor = 10;

/** A noticed block whose garbage collection is not reported yet. */
interface Noticed {
  readonly block: EventLoopBlock;
  readonly from: number;
  readonly to: number;
  /** Checks since. */
  looks: number;
}

/** The readings of one check. */
interface LoopLook {
  readonly at: number;
  readonly idle: number;
  readonly cpu: number;
  readonly work: WorkDone;
}

/**
 * Measures how long the event loop is blocked: checks it in intervals. The time between two checks that was not idle
 * (`eventLoopUtilization`) was uninterrupted work, or several short pieces that together are no longer than the
 * interval. `work` has counters since the start, from which the work of a block is computed. `monitorEventLoopDelay` is
 * not enough: it has a histogram of delays, and cannot say when one happened, what the server did meanwhile, or how
 * much of it was garbage collection.
 */
export class EventLoopWatch {
  readonly #options: EventLoopOptions;
  readonly #work: () => WorkDone;
  readonly #blocked: (block: EventLoopBlock) => void;
  readonly #clock: LoopClock;
  readonly #microseconds = createHistogram();
  readonly #blocks = { work: 0, gc: 0 };
  readonly #gc = { pauses: 0, ms: 0, longestMs: 0 };
  readonly #recent: EventLoopBlock[] = [];
  #pauses: Pause[] = [];
  #noticed: Noticed[] = [];
  #blockedForMs = 0;
  #longestMs = 0;
  #longestCpuMs = 0;
  /** The longest of this minute and of the one before. */
  #minute: { readonly since: number; now: number; readonly before: number };
  #last: LoopLook;
  #isResting = false;
  #isOver = false;
  #stopTimer: () => void;
  readonly #stopPauses: () => void;

  constructor(
    options: EventLoopOptions,
    work: () => WorkDone,
    blocked: (block: EventLoopBlock) => void,
    clock = systemLoopClock,
  ) {
    this.#options = options;
    this.#work = work;
    this.#blocked = blocked;
    this.#clock = clock;
    this.#minute = { since: clock.now(), now: 0, before: 0 };
    this.#last = this.#look();
    this.#stopTimer = clock.after(options.intervalMs, () => this.#check());
    this.#stopPauses = clock.pauses((pause) => {
      this.#gc.pauses += 1;
      this.#gc.ms += pause.ms;
      this.#gc.longestMs = Math.max(this.#gc.longestMs, pause.ms);
      this.#pauses.push(pause);
    });
  }

  stats(): EventLoopStats {
    const quantile = (percent: number) => this.#microseconds.percentile(percent) / 1000;
    return {
      blockedMs: this.#options.blockedMs,
      blocks: { ...this.#blocks },
      blockedForMs: this.#blockedForMs,
      longestMs: this.#longestMs,
      longestCpuMs: this.#longestCpuMs,
      lastMinuteMs: Math.max(this.#minute.now, this.#minute.before),
      p50Ms: quantile(50),
      p99Ms: quantile(99),
      p999Ms: quantile(99.9),
      gc: { ...this.#gc },
      recent: [...this.#recent],
    };
  }

  /** There is work: from now on, frequent checks are worth their cost. A repeated call costs nothing. */
  stir(): void {
    if (!this.#isResting || this.#isOver) return;
    this.#isResting = false;
    this.#stopTimer();
    this.#stopTimer = this.#clock.after(this.#options.intervalMs, () => this.#check());
  }

  stop(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#stopPauses();
  }

  #look(): LoopLook {
    const clock = this.#clock;
    return { at: clock.now(), idle: clock.idle(), cpu: clock.cpu(), work: this.#work() };
  }

  #check(): void {
    this.#tell();
    const { intervalMs, blockedMs } = this.#options;
    const last = this.#last;
    const next = this.#look();
    const ms = next.at - last.at - (next.idle - last.idle);
    this.#note(ms, next.at);
    this.#longestCpuMs = Math.max(this.#longestCpuMs, Math.min(ms, next.cpu - last.cpu));
    if (ms >= blockedMs) {
      const work = difference(next.work, last.work);
      const block = { at: new Date(), ms, gcMs: 0, cpuMs: next.cpu - last.cpu, work };
      this.#noticed.push({ block, from: last.at, to: next.at, looks: 0 });
    }
    // Pauses of the last interval may be reported in the next.
    const since = this.#noticed[0]?.from ?? last.at;
    if (this.#pauses.length > 0) this.#pauses = this.#pauses.filter(({ start }) => start >= since);
    this.#isResting = ms * idleFactor <= next.at - last.at;
    this.#last = next;
    const wait = this.#isResting ? intervalMs * idleFactor : intervalMs;
    this.#stopTimer = this.#clock.after(wait, () => this.#check());
  }

  #note(ms: number, at: number): void {
    const { since, now } = this.#minute;
    if (at - since >= minuteMs) this.#minute = { since: at, now: 0, before: at - since >= 2 * minuteMs ? 0 : now };
    this.#longestMs = Math.max(this.#longestMs, ms);
    this.#minute.now = Math.max(this.#minute.now, ms);
    this.#microseconds.record(Math.max(1, Math.round(ms * 1000)));
  }

  /** Reports blocks two checks later: the loop needs two turns until their pauses are reported. */
  #tell(): void {
    for (const each of this.#noticed) each.looks += 1;
    for (const { block, from, to } of this.#noticed.filter(({ looks }) => looks >= 2)) {
      const gcMs = this.#pauses.reduce((sum, { start, ms }) => (start >= from && start <= to ? sum + ms : sum), 0);
      this.#tellOne({ ...block, gcMs });
    }
    this.#noticed = this.#noticed.filter(({ looks }) => looks < 2);
  }

  #tellOne(block: EventLoopBlock): void {
    this.#blocks[block.gcMs > block.ms / 2 ? "gc" : "work"] += 1;
    this.#blockedForMs += block.ms;
    this.#recent.push(block);
    if (this.#recent.length > maxFindings) this.#recent.shift();
    this.#blocked(block);
  }
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
