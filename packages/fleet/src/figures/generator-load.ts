import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import { rounded } from "./spread.js";

/** The cost of the generator itself: if it is busy all the time, the times are its own. */
export interface GeneratorReport {
  readonly cpuSeconds: number;
  /** The busiest second, as a share of one core. Nearly everything runs on one core. */
  readonly busiest: number;
  /** Microseconds of CPU time for each received message, with its answer. */
  readonly cpuPerMessageUs: number | null;
  /** How late its own timers were, in milliseconds: reads may have been as late. */
  readonly delayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly memoryBytes: number;
  /** The generator was the limit, or near it: take times as upper bounds. */
  readonly isLimit: boolean;
}

/** Above this, times are the generator's as much as the server's. */
const limitShare = 0.8;

/** Watches this process. */
export class GeneratorLoad {
  readonly #start = process.cpuUsage();
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: 10 });
  readonly #timer: NodeJS.Timeout;
  #busiest = 0;
  #last = { at: performance.now(), cpu: process.cpuUsage() };

  constructor() {
    this.#delay.enable();
    this.#timer = setInterval(() => this.#look(), 1_000).unref();
  }

  #look(): void {
    const at = performance.now();
    const { user, system } = process.cpuUsage(this.#last.cpu);
    const passed = (at - this.#last.at) * 1_000;
    // A shorter interval says nothing.
    if (passed > 200_000) this.#busiest = Math.max(this.#busiest, (user + system) / passed);
    this.#last = { at, cpu: process.cpuUsage() };
  }

  /** Ends the watch, and says what it saw. */
  end(messages: number): GeneratorReport {
    this.#look();
    clearInterval(this.#timer);
    this.#delay.disable();
    const { user, system } = process.cpuUsage(this.#start);
    // A punctual timer is late by one resolution.
    const ms = (nanoseconds: number) => rounded(Math.max(0, nanoseconds / 1e6 - 10) || 0);
    return {
      cpuSeconds: rounded((user + system) / 1e6),
      busiest: rounded(this.#busiest),
      cpuPerMessageUs: messages === 0 ? null : rounded((user + system) / messages),
      delayMs: { p50: ms(this.#delay.percentile(50)), p99: ms(this.#delay.percentile(99)), max: ms(this.#delay.max) },
      memoryBytes: process.memoryUsage.rss(),
      isLimit: this.#busiest > limitShare,
    };
  }
}
