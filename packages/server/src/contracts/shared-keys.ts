import type { Finding } from "@xdskit/api";

/** Small values that all servers of one store share. Changes with each write of a key, and never comes back. */
export type SharedVersion = string;

/** One value. */
export interface SharedEntry {
  /** 1 to 90 characters: letters, digits, `/`, `-` and `_`. */
  readonly key: string;
  /** At most 512 kB. */
  readonly value: string;
  readonly version: SharedVersion;
}

/** What somebody wants to put there. */
export interface SharedPut {
  readonly key: string;
  readonly value: string;
  /**
   * The version that the writer knows; undefined: there must be nothing. Where something else is there, the key stays
   * as it is. `any`: whatever is there is replaced.
   */
  readonly expected: SharedVersion | undefined | "any";
  /** The entry goes when this session is over. */
  readonly session?: SharedSession | undefined;
}

/** Says that a server is alive: what it put there with its session goes soon after it stopped. */
export interface SharedSession {
  readonly id: string;
  /** Closed, or taken for dead: what was put with it is gone. Only a new session can put something again. */
  readonly isOver: boolean;
  /** Removes what was put with it. Does nothing where it is over. */
  close(): Promise<void>;
}

/** What a session is opened with. */
export interface SharedSessionOptions {
  /** Whoever says nothing for so many milliseconds is taken for dead. At least 2,000. The session says it by itself. */
  readonly ttlMs: number;
  /** Called once where it ends by itself: the store was away for too long, or this process was stopped. */
  readonly lost: () => void;
}

/** Hears of entries. */
export interface SharedListener {
  /**
   * All entries whose keys begin so, sorted by key: soon after the watch begins, and soon after each change. Changes
   * that follow each other may be told at once. After `away` it is called again, also where nothing differs.
   */
  changed(entries: readonly SharedEntry[]): void;
  /** The store cannot be read: nothing is heard until `changed` is called again. Called once for each such time. */
  away(finding: Finding): void;
}

/** Ends by `close`. */
export interface StoreWatch {
  /** No call comes after it. */
  close(): void;
}

/**
 * Small values that all servers of a store share: who is there, who leads, what was decided. Every key changes by
 * compare-and-swap. There is no history, and what needs one belongs into a layer.
 *
 * Every method rejects with XDSKIT_STORE if the store cannot be read or written, and with a RangeError for a wrong key.
 */
export interface SharedKeys {
  /** The entries whose keys begin so, sorted by key. What others put there is seen a moment later. */
  list(prefix: string): Promise<readonly SharedEntry[]>;
  /**
   * Resolves to the version that is there now; undefined: something else was there than was expected. Rejects with
   * XDSKIT_STORE where its session is over.
   */
  put(put: SharedPut): Promise<SharedVersion | undefined>;
  /** False: something else was there than was expected. What is not there any more counts as removed. */
  remove(key: string, expected: SharedVersion | "any"): Promise<boolean>;
  session(options: SharedSessionOptions): Promise<SharedSession>;
  watch(prefix: string, listener: SharedListener): StoreWatch;
}
