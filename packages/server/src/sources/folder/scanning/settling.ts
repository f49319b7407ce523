/** Waits until changes have been quiet for a while, but only up to a limit. */
export class Settling {
  readonly #quietMs: number;
  readonly #maxMs: number;
  readonly #run: (since: number) => void;
  #since: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  /**
   * @param quietMs the time without changes
   * @param maxMs when to run at the latest, after the first change
   * @param run gets the time of the first change, on the clock of `performance.now()`
   */
  constructor(quietMs: number, maxMs: number, run: (since: number) => void) {
    this.#quietMs = quietMs;
    this.#maxMs = maxMs;
    this.#run = run;
  }

  /** Whether it waits now. */
  get pending(): boolean {
    return this.#since !== undefined;
  }

  /** Something changed. */
  touch(): void {
    if (this.#stopped) return;
    const now = performance.now();
    this.#since ??= now;
    const waitMs = Math.max(0, Math.min(this.#quietMs, this.#since + this.#maxMs - now));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const since = this.#since ?? now;
      this.#since = undefined;
      this.#run(since);
    }, waitMs);
  }

  /** Nothing runs afterwards. */
  stop(): void {
    this.#stopped = true;
    this.#since = undefined;
    clearTimeout(this.#timer);
  }
}
