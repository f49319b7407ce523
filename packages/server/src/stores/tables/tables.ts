/**
 * What `RevisionStore` needs of a database: tables of values by key, whose keys are ordered, and transactions. A key is
 * ASCII and at most 100 characters. A value is what JSON can say, or bytes in the table `contents`.
 */
export interface Tables {
  /** Nothing can be written: `write` rejects. Missing: it can. */
  readonly isReadOnly?: boolean;
  /** Reads a consistent state. `work` runs at once. */
  read<T>(work: (reader: Reader) => T): T;
  /**
   * Runs `work` with nobody else writing, in this process or another one. All that it writes becomes visible at once,
   * or nothing of it. `work` throws only before it has written anything. Resolves once the result is safe.
   */
  write<T>(work: (writer: Writer) => T): Promise<T>;
  close(): Promise<void>;
}

/*
 * The tables, by key:
 *   heads       layer → id of its head
 *   revisions   id → Revision
 *   history     layer, number → id
 *   changes     id, part → what the revision changed, with the versions from before: read backwards they undo it
 *   index       layer, resource → what the head holds
 *   contents    resource, version → bytes
 *   references  the same → how often `index`, or `from` in `changes`, names it: at 0 the content goes
 *   shared      key → a value that servers share, with its version
 *   sessions    id → the session of a server: what it shares goes when the session ends
 *   meta        what `open` must clear up
 * Layers and resources stand there as hashes: names may be longer than a database's keys.
 */

/** All tables. */
export const tableNames = [
  "meta",
  "heads",
  "revisions",
  "history",
  "changes",
  "index",
  "references",
  "contents",
  "shared",
  "sessions",
] as const;

/** Names one table. */
export type TableName = (typeof tableNames)[number];

/** Reads within one consistent state. */
export interface Reader {
  get<T>(table: TableName, key: string): T | undefined;
  /** The entries whose keys begin so, in the order of keys, or in reverse. */
  range<T>(table: TableName, prefix: string, order?: "ascending" | "descending"): Iterable<readonly [string, T]>;
}

/** Reads and writes within one transaction. */
export interface Writer extends Reader {
  put(table: TableName, key: string, value: unknown): void;
  remove(table: TableName, key: string): void;
}
