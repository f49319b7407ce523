import type { Store } from "../../../contracts/stores/store.js";

/**
 * How long after a change a start waits for the record of its rollout, in milliseconds: the change is in the store
 * before. Servers whose clocks differ by more do not wait.
 */
const freshMs = 1_500;

/** Waits for the records of changes that were made just now. */
export class FreshRecords {
  readonly #store: Pick<Store, "heads">;
  readonly #areRecorded: (since: number) => boolean;
  /** Called at each record that is heard. */
  readonly #waiting = new Set<() => void>();
  #isClosed = false;

  /** `areRecorded`: whether the record of each group here is at least as new as that. */
  constructor(store: Pick<Store, "heads">, areRecorded: (since: number) => boolean) {
    this.#store = store;
    this.#areRecorded = areRecorded;
  }

  recordChanged(): void {
    for (const done of this.#waiting) done();
  }

  close(): void {
    this.#isClosed = true;
    this.recordChanged();
  }

  /** `read`: called after each record, and at the end of the time. */
  async wait(read: () => Promise<void>): Promise<void> {
    const heads = await this.#store.heads();
    const changedAt = Math.max(...heads.map(({ time }) => time));
    const started = Date.now();
    if (changedAt > started + freshMs) return;
    const leftMs = () => Math.min(changedAt, started) + freshMs - Date.now();
    while (leftMs() > 0 && !this.#areRecorded(changedAt) && !this.#isClosed) {
      await this.#next(leftMs());
      await read();
    }
  }

  /** Resolves at the next record, or after this many milliseconds. */
  async #next(withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#waiting.delete(done);
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.#waiting.add(done);
    });
  }
}
