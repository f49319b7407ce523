/** A call, or a connection, that the server waits for. */
export interface Waited {
  /**
   * When the wait began, and when it is checked next, in milliseconds; `due` is 0 if nothing is awaited. Only
   * `Patience` writes them.
   */
  since: number;
  due: number;
  /** Milliseconds beyond those that all have, for the bytes that came meanwhile. */
  readonly grantedMs: number;
  /** Called when the time is over. */
  late(): void;
}

/** The number of checks for late calls within the time that calls have. */
const looks = 10;

/**
 * Ends calls whose clients take too long. One timer serves all of them, and stops when a look finds none. Calls come
 * due in the order in which they began to wait.
 */
export class Patience {
  readonly #ms: number;
  readonly #now: () => number;
  readonly #waited = new Set<Waited>();
  #timer: NodeJS.Timeout | undefined;

  /** Each call has `ms` milliseconds. */
  constructor(ms: number, now: () => number) {
    this.#ms = ms;
    this.#now = now;
  }

  /** Waits from now on, or anew. */
  begin(waited: Waited): void {
    if (waited.due !== 0) this.#waited.delete(waited);
    waited.since = this.#now();
    waited.due = waited.since + this.#ms;
    this.#waited.add(waited);
    this.#timer ??= setInterval(() => this.#look(), this.#ms / looks).unref();
  }

  end(waited: Waited): void {
    if (waited.due === 0) return;
    waited.due = 0;
    this.#waited.delete(waited);
  }

  #look(): void {
    // Not in `end`: most waits are short, and each would start and stop a timer.
    if (this.#waited.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = this.#now();
    for (const waited of this.#waited) {
      if (waited.due > now) return;
      const end = waited.since + this.#ms + waited.grantedMs;
      if (end <= now) {
        this.end(waited);
        waited.late();
        continue;
      }
      // No later than calls that begin to wait now, so that the order holds.
      this.#waited.delete(waited);
      waited.due = Math.min(end, now + this.#ms);
      this.#waited.add(waited);
    }
  }
}
