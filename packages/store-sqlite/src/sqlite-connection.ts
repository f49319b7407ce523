import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type Libsql from "libsql";
import type LibsqlAside from "libsql/promise";

/**
 * What a row holds. A text whose bytes are damaged would end the process, so statements ask for bytes:
 * `CAST(… AS BLOB)`.
 */
export type Cell = Uint8Array | number | null;

/** A prepared statement. */
export interface Statement {
  run(parameters: readonly unknown[]): void;
  get(parameters: readonly unknown[]): readonly Cell[] | undefined;
  all(parameters: readonly unknown[]): readonly (readonly Cell[])[];
}

/** How a file is opened. `immutable`: nobody writes to it, and it needs no other file beside it. */
export type OpenedAs = "to write" | "to read" | "immutable";

/** The time that a statement waits for others, in milliseconds: they hold a lock only while they open or close it. */
const timeout = 5_000;

const { Database, InOtherThread } = loaded();

/**
 * The package asks Node's report which C library there is. The report would look up the names of all that the process
 * is connected to, which takes seconds where no DNS server answers.
 */
function loaded(): { readonly Database: typeof Libsql; readonly InOtherThread: typeof LibsqlAside } {
  const require = createRequire(import.meta.url);
  const report = process.report as { excludeNetwork?: boolean };
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true;
  try {
    return { Database: require("libsql"), InOtherThread: require("libsql/promise") };
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** One connection to a file of SQLite. This is the only file that uses the package. */
export class SqliteConnection {
  readonly #database: Libsql.Database;

  constructor(file: string, as: OpenedAs = "to write") {
    const query = { "to write": "", "to read": "?mode=ro", immutable: "?mode=ro&immutable=1" }[as];
    this.#database = new Database(query === "" ? file : pathToFileURL(file).href + query, { timeout });
  }

  /** Runs statements that give no rows. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /**
   * The same in a thread of the package, for what waits for the disk. Nothing else may use the connection meanwhile.
   * Both interfaces of the package are made of the same functions.
   */
  async execAside(sql: string): Promise<void> {
    await InOtherThread.prototype.exec.call(this.#database as unknown as LibsqlAside, sql);
  }

  /** The first row of a statement that takes long, found in that thread. */
  async firstAside(sql: string): Promise<readonly Cell[] | undefined> {
    const statement = await InOtherThread.prototype.prepare.call(this.#database as unknown as LibsqlAside, sql);
    const rows = (await statement.raw().all([])) as readonly (readonly Cell[])[];
    return rows[0];
  }

  prepare(sql: string): Statement {
    const statement = this.#database.prepare(sql);
    if (!statement.reader) return statement as unknown as Statement;
    return statement.raw() as unknown as Statement;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /** Ends a transaction that changed nothing, or that must not stay. */
  rollback(): void {
    if (this.#database.open && this.inTransaction) this.exec("ROLLBACK");
  }

  /** The file itself is closed once the statements are collected, too. Does nothing a second time. */
  close(): void {
    if (this.#database.open) this.#database.close();
  }
}

/** The code of an error of SQLite, such as `SQLITE_BUSY`; undefined: it is another error. */
export function sqliteCode(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}
