import assert from "node:assert/strict";
import type { Store } from "../../contracts/stores/store.js";

/** How the suite gets at a store. */
export interface StoreUnderTest {
  readonly name: string;
  /** Opens an empty store of its own. */
  create(): Promise<Store>;
  /** Opens the content of a store that was closed; left out: nothing outlives the store. */
  readonly reopen?: (() => Promise<Store>) | undefined;
  /** Opens the content of the open store once more, as another process would; left out: no other process can. */
  readonly other?: (() => Promise<Store>) | undefined;
  /** Called after each test; the store is closed by then. */
  dispose?(): Promise<void>;
}

/** A test waits at most this many milliseconds to hear of something. */
const maxMs = 10_000;

/** The values that a listener was told, in order. */
export class Heard<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<() => void>();
  #failure: string | undefined;
  close: () => void = () => {};

  tell(told: T): void {
    this.all.push(told);
    for (const look of this.#waiting) look();
  }

  fail(message: string): void {
    this.#failure = message;
    for (const look of this.#waiting) look();
  }

  /** Resolves once the newest is as wanted. */
  until(isWanted: (told: T) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new assert.AssertionError({ message: `it was not heard; last: ${JSON.stringify(this.all.at(-1))}` }));
      }, maxMs);
      const look = () => {
        const last = this.all.at(-1);
        const isHeard = this.all.length > 0 && isWanted(last as T);
        if (!isHeard && this.#failure === undefined) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        if (isHeard) resolve();
        else reject(new assert.AssertionError({ message: `the store went away: ${this.#failure}` }));
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** Runs a test with an empty store, and with what another process sees of it. */
export async function withTwo(
  under: StoreUnderTest,
  test: (store: Store, other: Store) => Promise<void>,
): Promise<void> {
  const store = await under.create();
  const other = (await under.other?.()) ?? store;
  try {
    await test(store, other);
  } finally {
    if (other !== store) await other.close();
    await store.close();
    await under.dispose?.();
  }
}
