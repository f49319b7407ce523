import { PerformanceObserver } from "node:perf_hooks";
import type { Events } from "../contracts/events.js";
import type { EventLoopStats } from "../event-loop/event-loop-stats.js";
import { intervalMs, LoopMeter } from "../event-loop/loop-meter.js";
import type { Counters } from "../publication/counters.js";

/** How long the event loop is blocked. */
export interface EventLoopWatch {
  stats(): EventLoopStats;
  /** There is work: from now on, frequent looks are worth their cost. A repeated call costs nothing. */
  stir(): void;
  stop(): void;
}

/** Only newer versions of Node know the CPU time of a thread. */
const { threadCpuUsage = process.cpuUsage } = process as { readonly threadCpuUsage?: typeof process.cpuUsage };

export function watchEventLoop(counters: Pick<Counters, "work">, events: Pick<Events, "emit">): EventLoopWatch {
  const lookNow = () => {
    const { user, system } = threadCpuUsage.call(process);
    const { idle } = performance.eventLoopUtilization();
    return { at: performance.now(), idle, cpu: (user + system) / 1_000, work: counters.work() };
  };
  const meter = new LoopMeter(lookNow(), (block) => events.emit("event-loop-blocked", () => ({ block })));
  const look = () => wait(meter.look(lookNow()));
  let isResting = false;
  let timer: NodeJS.Timeout;
  const wait = (milliseconds: number) => {
    isResting = milliseconds > intervalMs;
    timer = setTimeout(look, milliseconds).unref();
  };
  wait(intervalMs);
  const observer = new PerformanceObserver((list) => {
    for (const pause of list.getEntries()) meter.paused(pause);
  });
  observer.observe({ entryTypes: ["gc"] });
  return {
    stats: () => meter.stats(),
    stir() {
      if (!isResting) return;
      clearTimeout(timer);
      wait(intervalMs);
    },
    stop() {
      isResting = false;
      clearTimeout(timer);
      observer.disconnect();
    },
  };
}
