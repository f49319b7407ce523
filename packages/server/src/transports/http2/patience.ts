/** Who is waited for. */
export interface Waited {
  /** Since when, and when that is looked at, in milliseconds; 0: not at all. Only `Patience` writes them. */
  since: number;
  due: number;
  /** Milliseconds that it has beyond those that all have, for what came of it meanwhile. */
  readonly grantedMs: number;
  /** The time is over. */
  late(): void;
}

/** How often it is looked for who is late, for each time that they have. */
const looks = 10;

/** Ends the waits of those who keep others waiting: one timer for all of them, which runs on until a look finds none. They come due in the order in which they came. */
export class Patience {
  readonly #ms: number;
  readonly #now: () => number;
  readonly #waited = new Set<Waited>();
  #timer: NodeJS.Timeout | undefined;

  /** Each has so many milliseconds. */
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
    // Not in `end`: mostly one waits for no time at all, and each would have a timer of its own.
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
      // No later than those who come now, so that they stay in order.
      this.#waited.delete(waited);
      waited.due = Math.min(end, now + this.#ms);
      this.#waited.add(waited);
    }
  }
}
