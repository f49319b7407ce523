import { setTimeout as delay } from "node:timers/promises";

/** Waits this many milliseconds; rejects once the rounds are closed. */
export type RoundWait = (ms: number) => Promise<void>;

/** Does the same again and again, until it is closed. A round says itself how long it waits. */
export class Rounds {
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(round: (wait: RoundWait) => Promise<void>) {
    this.#done = this.#run(round).catch((error) => {
      if (!this.isClosed) throw error;
    });
  }

  get isClosed(): boolean {
    return this.#stopped.signal.aborted;
  }

  /** Waits for the round under way. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #run(round: (wait: RoundWait) => Promise<void>): Promise<void> {
    // The caller finishes its setup first.
    await Promise.resolve();
    const wait: RoundWait = (ms) => delay(ms, undefined, { signal: this.#stopped.signal, ref: false });
    while (!this.isClosed) await round(wait);
  }
}
