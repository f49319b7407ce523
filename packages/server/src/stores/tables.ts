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

/** All tables; `RevisionStore` says what is in each. */
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
