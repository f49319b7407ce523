import { longestTimerMs } from "../../clock.js";
import type { Keepalive } from "../../keepalive.js";
import { lastWordMs } from "../../transport.js";

/** What a connection does when it becomes too old. */
export interface Ageing {
  /** Takes no further streams, and says so. */
  goAway(): void;
  /** Ends those that it has. */
  stopCalls(): void;
  /** Whoever has not read the end by now, does not read. */
  destroy(): void;
}

/** Ends a connection when it is as old as it may become; returns what stops that. `chance` is from 0 to 1. */
export function limitAge(
  connection: Ageing,
  { maxAgeMs, maxAgeGraceMs }: Pick<Keepalive, "maxAgeMs" | "maxAgeGraceMs">,
  chance: () => number = Math.random,
): () => void {
  if (maxAgeMs === Infinity) return () => {};
  let timer: NodeJS.Timeout;
  const after = (ms: number, then: () => void) => {
    timer = setTimeout(then, Math.min(ms, longestTimerMs)).unref();
  };
  after(maxAgeMs * (0.9 + 0.2 * chance()), () => {
    connection.goAway();
    after(maxAgeGraceMs, () => {
      connection.stopCalls();
      after(lastWordMs, () => connection.destroy());
    });
  });
  return () => clearTimeout(timer);
}
