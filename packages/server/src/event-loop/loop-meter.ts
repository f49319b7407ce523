import { createHistogram, type PerformanceEntry } from "node:perf_hooks";
import { maxFindings } from "@xdskit/api";
import { blockedMs, type EventLoopBlock, type EventLoopStats, type WorkDone } from "./event-loop-stats.js";

const minuteMs = 60_000;
/** How often to look at a loop that works, in milliseconds. */
export const intervalMs = 10;
/**
 * If less than a tenth of the time is work, a tenth of the looks is enough. Looking at an idle server every 10 ms would
 * cost 1.3 % of a core, against 0.2 %.
 */
const idleFactor = 10;

/** Readings of the event loop. All times are in milliseconds. */
export interface LoopLook {
  readonly at: number;
  /** For how long it had nothing to do, since its start. */
  readonly idle: number;
  /** CPU time of the thread, or of the whole process if this Node does not know a thread's (before 23.9). */
  readonly cpu: number;
  /** Since the start. */
  readonly work: WorkDone;
}

/** A pause for garbage collection, in milliseconds; `startTime` is a time of `LoopLook.at`. */
type Pause = Pick<PerformanceEntry, "startTime" | "duration">;

/** A block whose garbage collection is not reported yet. */
interface Noticed {
  readonly block: EventLoopBlock;
  readonly from: number;
  readonly to: number;
}

/**
 * Measures how long the event loop is blocked, from looks at it. The time between two looks that was not idle was
 * uninterrupted work, or several short pieces that together are no longer than the interval. `monitorEventLoopDelay` is
 * not enough: it has a histogram of delays, and cannot say when one happened, what the server did meanwhile, or how
 * much of it was garbage collection.
 */
export class LoopMeter {
  readonly #blocked: (block: EventLoopBlock) => void;
  readonly #microseconds = createHistogram();
  readonly #blocks = { work: 0, gc: 0 };
  readonly #recent: EventLoopBlock[] = [];
  #pauses: Pause[] = [];
  /** Of the look before the last one, and of the last one. */
  #noticed: readonly (Noticed | undefined)[] = [];
  #blockedForMs = 0;
  #longestMs = 0;
  /** The longest of this minute and of the one before. */
  #minute: { readonly since: number; now: number; readonly before: number };
  #last: LoopLook;

  constructor(first: LoopLook, blocked: (block: EventLoopBlock) => void) {
    this.#last = first;
    this.#minute = { since: first.at, now: 0, before: 0 };
    this.#blocked = blocked;
  }

  stats(): EventLoopStats {
    const quantile = (percent: number) => this.#microseconds.percentile(percent) / 1_000;
    return {
      blockedMs,
      blocks: { ...this.#blocks },
      blockedForMs: this.#blockedForMs,
      longestMs: this.#longestMs,
      lastMinuteMs: Math.max(this.#minute.now, this.#minute.before),
      p50Ms: quantile(50),
      p99Ms: quantile(99),
      recent: [...this.#recent],
    };
  }

  /** A pause may be reported some milliseconds after it happened. */
  paused(pause: Pause): void {
    this.#pauses.push(pause);
  }

  /** Takes a look; returns for how long nobody needs to look again, in milliseconds. */
  look(next: LoopLook): number {
    const last = this.#last;
    this.#last = next;
    const ms = next.at - last.at - (next.idle - last.idle);
    this.#note(ms, next.at);
    const [due, later] = this.#noticed;
    if (due !== undefined) this.#tell(due);
    this.#noticed = [later, ms < blockedMs ? undefined : noticedBetween(last, next, ms)];
    // Pauses of the last interval may be reported in the next.
    const since = later?.from ?? last.at;
    if (this.#pauses.length > 0) this.#pauses = this.#pauses.filter(({ startTime }) => startTime >= since);
    return ms * idleFactor <= next.at - last.at ? intervalMs * idleFactor : intervalMs;
  }

  #note(ms: number, at: number): void {
    const { since, now } = this.#minute;
    if (at - since >= minuteMs) this.#minute = { since: at, now: 0, before: at - since >= 2 * minuteMs ? 0 : now };
    this.#longestMs = Math.max(this.#longestMs, ms);
    this.#minute.now = Math.max(this.#minute.now, ms);
    this.#microseconds.record(Math.max(1, Math.round(ms * 1_000)));
  }

  /** Two looks after the block: the loop needs two turns until its pauses are reported. */
  #tell({ block: noticed, from, to }: Noticed): void {
    const pauses = this.#pauses.filter(({ startTime }) => startTime >= from && startTime <= to);
    const block = { ...noticed, gcMs: pauses.reduce((sum, { duration }) => sum + duration, 0) };
    this.#blocks[block.gcMs > block.ms / 2 ? "gc" : "work"] += 1;
    this.#blockedForMs += block.ms;
    this.#recent.push(block);
    if (this.#recent.length > maxFindings) this.#recent.shift();
    this.#blocked(block);
  }
}

/** The block between two looks. Most looks find none, so it is made only then. */
function noticedBetween(last: LoopLook, next: LoopLook, ms: number): Noticed {
  const cpuMs = next.cpu - last.cpu;
  const block = { at: new Date(), ms, gcMs: 0, cpuMs, work: difference(next.work, last.work) };
  return { block, from: last.at, to: next.at };
}

function difference(after: WorkDone, before: WorkDone): WorkDone {
  const names = Object.keys(after) as (keyof WorkDone)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Record<keyof WorkDone, number>;
}
