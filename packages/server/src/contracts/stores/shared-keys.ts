import type { Finding } from "@xdskit/api";

/** The longest value of an entry, in characters: etcd takes 1.5 MiB in a request. */
export const maxSharedValue = 512_000;

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

/** A write of one key. */
export interface SharedPut {
  readonly key: string;
  readonly value: string;
  /**
   * The version that the writer knows; undefined: the key must not exist. If the key has another version, it stays as
   * it is. `any`: any version is replaced.
   */
  readonly expected: SharedVersion | undefined | "any";
  /** The entry goes when this session is over. */
  readonly session?: SharedSession | undefined;
}

/** Shows that a server is alive: entries of its session are removed soon after it stops. */
export interface SharedSession {
  readonly id: string;
  /** Closed, or considered dead: its entries are gone. Only a new session can write again. */
  readonly isOver: boolean;
  /** Removes its entries. Does nothing if it is over. */
  close(): Promise<void>;
}

/** The options of a session. */
export interface SharedSessionOptions {
  /**
   * A session that is silent for this many milliseconds is considered dead. At least 2,000. The session sends signs of
   * life automatically.
   */
  readonly ttlMs: number;
  /** Called once if it ends unexpectedly: the store was away for too long, or this process was paused. */
  readonly lost: () => void;
}

/** Listens to entries. */
export interface SharedListener {
  /**
   * All entries whose keys begin so, sorted by key: soon after the watch begins, and soon after each change. Changes
   * that follow each other may come in one call. After `away` it is called again, even if nothing differs.
   */
  entriesChanged(entries: readonly SharedEntry[]): void;
  /**
   * The store cannot be read: nothing is heard until `entriesChanged` is called again. Called once for each such time.
   */
  away(finding: Finding): void;
}

/** Ends by `close`. */
export interface StoreWatch {
  /** No call comes after it. */
  close(): void;
}

/**
 * Small values that all servers of a store share, such as members, leaders and decisions. Every key changes by
 * compare-and-swap. There is no history; data that needs one belongs in a layer.
 *
 * Every method rejects with XDSKIT_STORE if the store cannot be read or written, and with a RangeError for a wrong key.
 */
export interface SharedKeys {
  /** The entries whose keys begin with `prefix`, sorted by key. Writes of other servers appear a moment later. */
  list(prefix: string): Promise<readonly SharedEntry[]>;
  /**
   * Resolves to the new version; undefined: the key had another version than expected. Rejects with XDSKIT_STORE if its
   * session is over.
   */
  put(put: SharedPut): Promise<SharedVersion | undefined>;
  /** False: the key had another version than expected. A key that no longer exists counts as removed. */
  remove(key: string, expected: SharedVersion | "any"): Promise<boolean>;
  session(options: SharedSessionOptions): Promise<SharedSession>;
  watch(prefix: string, listener: SharedListener): StoreWatch;
}
