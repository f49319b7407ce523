import { ConnectionError, http2Error } from "../frames/http2-errors.js";

/** The cost of one useless frame, in units of the budget. */
export const floodCost = {
  /** PING, SETTINGS, PRIORITY, WINDOW_UPDATE, an empty DATA frame, one that is not known. */
  idle: 1,
  /** A stream that its client opened and reset before it got anything: it costs us the most (CVE-2023-44487). */
  reset: 5,
  /** A frame for which a stream had to be ended. */
  fault: 5,
} as const;

/** Units that a connection may use at once, and the number that comes back each second. */
const burst = 10_000;
const perSecond = 500;
/** The units that each sent frame with content adds: a client answers it by window updates and pings. */
const earned = 4;

/**
 * Limits clients that cause work for nothing: floods of pings, settings, resets, empty frames. A healthy client stays
 * far below, whatever the server sends.
 */
export class FloodGuard {
  readonly #now: () => number;
  #left = burst;
  #since: number;

  /** `now` is in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#since = now();
  }

  /** Throws a ConnectionError (ENHANCE_YOUR_CALM) when there was too much. */
  count(cost: number): void {
    this.#left -= cost;
    if (this.#left >= 0) return;
    const time = this.#now();
    this.#left = Math.min(burst, this.#left + ((time - this.#since) / 1_000) * perSecond);
    this.#since = time;
    if (this.#left < 0) throw new ConnectionError(http2Error.enhanceYourCalm, "too many frames that bring nothing");
  }

  /** A frame with content was sent. */
  earn(): void {
    if (this.#left < burst) this.#left += earned;
  }
}
