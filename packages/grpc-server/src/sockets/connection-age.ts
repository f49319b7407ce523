import { lastWordMs } from "../connection/connection-end.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import type { Keepalive } from "./keepalive.js";

/** The handling of a connection that must go. */
interface Ageing {
  /** Takes no more streams, and says so. */
  goAway(): void;
  /** Ends the open calls. */
  stopCalls(): void;
  /** A client that has not read the end by now does not read at all. */
  destroy(): void;
}

/** Ends a connection when it is too old, or when it is asked to. */
export type ConnectionAge = ReturnType<typeof limitAge>;

export function limitAge(
  connection: Ageing,
  { maxAgeMs, maxAgeGraceMs }: Pick<Keepalive, "maxAgeMs" | "maxAgeGraceMs">,
) {
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const after = (ms: number, then: () => void) => {
    timer = setTimeout(then, Math.min(ms, longestTimerMs)).unref();
  };
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    connection.goAway();
    after(maxAgeGraceMs, () => {
      connection.stopCalls();
      after(lastWordMs, () => connection.destroy());
    });
  };
  if (maxAgeMs !== Infinity) after(maxAgeMs * (0.9 + 0.2 * Math.random()), end);
  return {
    /** It was told to go. */
    get isOver(): boolean {
      return isOver;
    },
    /** Tells it to go now, if it was not told before. */
    end,
    /** The connection is gone. */
    stop: () => clearTimeout(timer),
  };
}
