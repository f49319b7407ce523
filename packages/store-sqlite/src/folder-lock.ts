import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SqliteConnection, sqliteCode } from "./sqlite-connection.js";

/** An empty file. SQLite locks it as it does its own, and the system ends the locks of a process that dies. */
const name = "lock";

/** The longest time that another process checks and makes the file, in milliseconds. */
const waitMs = 120_000;
const pauseMs = 10;

/** Who has the files of a folder open: many at once, or one alone that checks them, sets them aside, and makes them. */
export class FolderLock {
  readonly #connection: SqliteConnection;

  private constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Rejects with the system's errors where there can be no file. */
  static async of(directory: string): Promise<FolderLock> {
    const file = join(directory, name);
    await writeFile(file, "", { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    const connection = new SqliteConnection(file);
    connection.exec("PRAGMA busy_timeout = 0");
    return new FolderLock(connection);
  }

  /**
   * Calls `work` if nobody else has the files open; undefined: somebody has. Resolves once nobody is alone with the
   * files: from then on they stay where they are, until `close`. Who is alone may die before it is done: then the next
   * one is alone.
   */
  async share<T>(work: () => Promise<T>): Promise<T | undefined> {
    const until = performance.now() + waitMs;
    let done: { readonly result: T } | undefined;
    for (;;) {
      if (done === undefined && this.#isAlone()) done = await this.#alone(work);
      if (this.#locked("BEGIN; SELECT 1 FROM sqlite_schema")) return done?.result;
      if (performance.now() > until) throw new Error("another process has been checking it for too long");
      await sleep(pauseMs);
    }
  }

  #isAlone(): boolean {
    // Nothing is written, so there need not be a journal.
    return this.#locked("PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE");
  }

  async #alone<T>(work: () => Promise<T>): Promise<{ readonly result: T }> {
    try {
      return { result: await work() };
    } finally {
      this.#connection.rollback();
    }
  }

  close(): void {
    this.#connection.rollback();
    this.#connection.close();
  }

  #locked(sql: string): boolean {
    try {
      this.#connection.exec(sql);
      return true;
    } catch (error) {
      this.#connection.rollback();
      if (sqliteCode(error) === "SQLITE_BUSY") return false;
      throw error;
    }
  }
}
