import { lastWordMs } from "../connection/connection-end.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import type { Keepalive } from "./keepalive.js";

/** What happens to a connection that becomes too old. */
interface Ageing {
  /** Takes no more streams, and says so. */
  goAway(): void;
  /** Ends the open calls. */
  stopCalls(): void;
  /** A client that has not read the end by now does not read at all. */
  destroy(): void;
}

/** Ends a connection that reached its greatest age; returns a function that stops that. */
export function limitAge(
  connection: Ageing,
  { maxAgeMs, maxAgeGraceMs }: Pick<Keepalive, "maxAgeMs" | "maxAgeGraceMs">,
): () => void {
  if (maxAgeMs === Infinity) return () => {};
  let timer: NodeJS.Timeout;
  const after = (ms: number, then: () => void) => {
    timer = setTimeout(then, Math.min(ms, longestTimerMs)).unref();
  };
  after(maxAgeMs * (0.9 + 0.2 * Math.random()), () => {
    connection.goAway();
    after(maxAgeGraceMs, () => {
      connection.stopCalls();
      after(lastWordMs, () => connection.destroy());
    });
  });
  return () => clearTimeout(timer);
}
