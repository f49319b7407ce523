import type { Reader, Tables } from "./tables.js";

/**
 * How often to look for the writes of other processes, in milliseconds. A database has no way to call; to look costs a
 * few microseconds.
 */
const pollMs = 100;

/** Looks at tables again and again while somebody wants it, and at once after what this process wrote. */
export class TablePoll {
  readonly #looks = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #isNudged = false;

  /** Calls `look` in a later turn, then from time to time, until the returned function is called. */
  add(look: () => void): () => void {
    this.#looks.add(look);
    this.#timer ??= setInterval(() => this.#all(), pollMs).unref();
    this.nudge();
    return () => {
      if (!this.#looks.delete(look) || this.#looks.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  /** This process has written something. */
  nudge(): void {
    if (this.#isNudged || this.#looks.size === 0) return;
    this.#isNudged = true;
    setImmediate(() => {
      this.#isNudged = false;
      this.#all();
    });
  }

  /** Nobody is called any more. */
  close(): void {
    this.#looks.clear();
    clearInterval(this.#timer);
  }

  #all(): void {
    for (const look of this.#looks) look();
  }
}

/** Calls `tell` where what `signature` says is another than before. Says `away` once while it cannot be read. */
export function onChange<T>(
  tables: Tables,
  look: {
    signature(reader: Reader): string;
    read(reader: Reader): T;
    tell(found: T): void;
    away(error: unknown): void;
  },
): () => void {
  let known: string | undefined;
  let isAway = false;
  return () => {
    let found: T;
    try {
      const now = tables.read(look.signature);
      if (now === known && !isAway) return;
      found = tables.read(look.read);
      known = now;
      isAway = false;
    } catch (error) {
      if (!isAway) look.away(error);
      isAway = true;
      return;
    }
    look.tell(found);
  };
}
