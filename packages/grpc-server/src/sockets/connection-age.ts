import { lastWordMs } from "../connection/connection-end.js";
import { longestTimerMs } from "../timing/longest-timer.js";
import type { Keepalive } from "./keepalive.js";

/** The handling of a connection that must go. */
export interface Ageing {
  /** Takes no more streams, and says so. */
  goAway(): void;
  /** Ends the open calls. */
  stopCalls(): void;
  /** A client that has not read the end by now does not read at all. */
  destroy(): void;
}

/**
 * Ends a connection when it is too old, or when it is asked to. When the certificate that its client showed ends, the
 * connection only takes no more streams: the next one must come with another certificate, over another connection.
 */
export class ConnectionAge {
  readonly #connection: Ageing;
  readonly #graceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #outdating: NodeJS.Timeout | undefined;
  #isOver = false;
  #isOutdated = false;

  /** `certificateEnds`: in milliseconds since 1970; undefined: the client showed none. */
  constructor(
    connection: Ageing,
    { maxAgeMs, maxAgeGraceMs }: Pick<Keepalive, "maxAgeMs" | "maxAgeGraceMs">,
    certificateEnds: number | undefined,
  ) {
    this.#connection = connection;
    this.#graceMs = maxAgeGraceMs;
    if (maxAgeMs !== Infinity) this.#after(maxAgeMs * (0.9 + 0.2 * Math.random()), () => this.end());
    if (certificateEnds !== undefined) this.#outdateAt(certificateEnds);
  }

  /** The connection was told to go. */
  get isOver(): boolean {
    return this.#isOver || this.#isOutdated;
  }

  /** Tells the connection to go now, if it was not told before. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stop();
    this.#connection.goAway();
    this.#after(this.#graceMs, () => {
      this.#connection.stopCalls();
      this.#after(lastWordMs, () => this.#connection.destroy());
    });
  }

  /** The connection is gone. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#outdating);
  }

  #outdateAt(time: number): void {
    const left = Math.max(0, time - Date.now());
    const look = () => {
      if (Date.now() < time) return this.#outdateAt(time);
      this.#isOutdated = true;
      this.#connection.goAway();
    };
    this.#outdating = setTimeout(look, Math.min(left, longestTimerMs)).unref();
  }

  #after(ms: number, then: () => void): void {
    this.#timer = setTimeout(then, Math.min(ms, longestTimerMs)).unref();
  }
}
