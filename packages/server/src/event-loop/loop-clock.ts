import { PerformanceObserver, performance } from "node:perf_hooks";

/** A pause for garbage collection, in milliseconds of `LoopClock.now`. */
export interface Pause {
  readonly start: number;
  readonly ms: number;
}

/** The inputs of an event loop watch; tests replace them. */
export interface LoopClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** For how long the loop had nothing to do, since its start. */
  idle(): number;
  /** CPU time of the thread in milliseconds, or of the whole process if this Node does not know it (before 23.9). */
  cpu(): number;
  /** Calls back once, and keeps no process alive; returns a function that cancels it. */
  after(milliseconds: number, callback: () => void): () => void;
  /** Reports pauses some milliseconds after they happened; returns a function that stops that. */
  pauses(callback: (pause: Pause) => void): () => void;
}

/** The part that only newer versions of Node have. */
interface ThreadTimes {
  readonly cpuUsage: typeof process.cpuUsage;
  readonly threadCpuUsage?: typeof process.cpuUsage;
}

/** The clocks of Node and of this process. */
export const systemLoopClock: LoopClock = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
  cpu() {
    const { user, system } = (process as ThreadTimes).threadCpuUsage?.() ?? process.cpuUsage();
    return (user + system) / 1000;
  },
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  pauses(callback) {
    const observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) callback({ start: startTime, ms: duration });
    });
    observer.observe({ entryTypes: ["gc"] });
    return () => observer.disconnect();
  },
};
