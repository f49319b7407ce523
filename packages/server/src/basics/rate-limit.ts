/**
 * Says whether one more request is allowed now: a token bucket, `burst` requests at once, refilled at `perSecond`. It
 * starts full. Each request of each stream asks: the numbers are fields, which V8 changes in place.
 */
export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #last: number | undefined;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  take(nowMs: number): boolean {
    const since = nowMs - (this.#last ?? nowMs);
    this.#tokens = Math.min(this.#burst, this.#tokens + (since / 1000) * this.#perSecond);
    this.#last = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
