import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { XdskitError } from "@xdskit/api";
import type { Reader, Tables, Writer } from "@xdskit/server/tables";
import { Acknowledged } from "./acknowledged.js";
import { type OpenedAs, SqliteConnection, sqliteCode } from "./sqlite-connection.js";
import { unread, unwritten } from "./store-errors.js";
import { TableRows } from "./table-rows.js";

/** The longest time to wait for another process that writes, in milliseconds: more than its largest commit takes. */
const waitForWriterMs = 60_000;

/** The longest time between two looks whether that process has ended its transaction, in milliseconds. */
const maxPauseMs = 20;

/** The size down to which SQLite cuts its log once it is written into the file, in bytes. */
const logBytes = 16 * 1024 ** 2;

/** How a file is opened. */
export interface SqliteTablesOptions {
  readonly as?: OpenedAs;
  /** This thread may wait for the disk: nothing else runs in it. */
  readonly mayWait?: boolean;
  /** Called once it is closed. */
  readonly closed?: () => Promise<void>;
}

/** A piece of work that waits for its transaction. */
interface WaitingTask {
  /** May be called again, if its first transaction failed. */
  readonly work: () => void;
  readonly done: (failed: unknown) => void;
}

/**
 * The tables of a store in one file of SQLite. Several processes may have it open.
 *
 * Reads have a connection of their own: they do not wait for a transaction that waits for the disk. Transactions that
 * arrive together become one, and are committed in another thread.
 */
export class SqliteTables implements Tables {
  readonly #file: string;
  readonly #options: SqliteTablesOptions;
  readonly #acknowledged: Acknowledged;
  readonly #reading: SqliteConnection;
  readonly #reader: TableRows;
  readonly #writing: SqliteConnection;
  readonly #writer: TableRows;
  readonly isReadOnly: boolean;
  #isInRead = false;
  #waiting: WaitingTask[] = [];
  #underWay: Promise<void> | undefined;

  /** The file has its tables already. Throws SQLite's errors. */
  constructor(file: string, options: SqliteTablesOptions = {}) {
    const { as = "to write" } = options;
    this.#file = file;
    this.#options = options;
    this.isReadOnly = as !== "to write";
    this.#acknowledged = new Acknowledged(file);
    this.#writing = this.isReadOnly ? new SqliteConnection(file, as) : writingConnection(file);
    this.#reading = new SqliteConnection(file, this.isReadOnly ? as : "to read");
    this.#writer = new TableRows(this.#writing, file);
    this.#reader = new TableRows(this.#reading, file);
  }

  read<T>(work: (reader: Reader) => T): T {
    if (this.#isInRead) return work(this.#reader);
    this.#isInRead = true;
    try {
      this.#reading.exec("BEGIN");
      return work(this.#reader);
    } catch (error) {
      throw unread(error, this.#file);
    } finally {
      this.#isInRead = false;
      this.#reading.rollback();
    }
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    if (this.isReadOnly)
      throw XdskitError.of("XDSKIT_STORE", "the store cannot be written, only read", { file: this.#file });
    let result: T | undefined;
    const failed = await new Promise<unknown>((done) => {
      this.#waiting.push({
        done,
        work: () => {
          result = work(this.#writer);
        },
      });
      this.#underWay ??= this.#writeAll();
    });
    if (failed !== undefined) throw failed;
    return result as T;
  }

  async close(): Promise<void> {
    await this.#underWay;
    // Then the file has all of it, unless another process reads it just now.
    const isLast = !this.isReadOnly && this.#options.mayWait !== true;
    if (isLast) await this.#writing.execAside("PRAGMA wal_checkpoint(TRUNCATE)").catch(() => {});
    this.#reading.close();
    this.#writing.close();
    if (isLast) await this.#acknowledged.seal();
    this.#acknowledged.close();
    await this.#options.closed?.();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      const together = this.#waiting;
      this.#waiting = [];
      const failed = await this.#transaction(together);
      if (failed === undefined || together.length === 1) for (const { done } of together) done(failed);
      // One of them may be the reason: another one may be right, or still fit on the disk.
      else for (const one of together) one.done(await this.#transaction([one]));
    }
    this.#underWay = undefined;
  }

  async #transaction(works: readonly WaitingTask[]): Promise<unknown> {
    try {
      await this.#begin();
      this.#writer.isChanged = false;
      for (const { work } of works) work();
      if (!this.#writer.isChanged) return void this.#writing.rollback();
      const number = (this.#writer.get<number>("meta", "transaction") ?? 0) + 1;
      const store = this.#writer.get<string>("meta", "store") ?? "";
      this.#writer.put("meta", "transaction", number);
      if (this.#options.mayWait === true) this.#writing.exec("COMMIT");
      else await this.#writing.execAside("COMMIT");
      await this.#note(store, number);
      return undefined;
    } catch (error) {
      this.#writing.rollback();
      return unwritten(error, this.#file);
    }
  }

  /**
   * Notes that a transaction is safe, within another one: else a process that stalls between the reading and the
   * writing would note an earlier one over a later one.
   */
  async #note(store: string, number: number): Promise<void> {
    try {
      await this.#begin();
      await this.#acknowledged.note(store, number);
    } catch {
      // It is safe all the same.
    } finally {
      this.#writing.rollback();
    }
  }

  /** Waits for other processes without holding up this one. */
  async #begin(): Promise<void> {
    const until = performance.now() + waitForWriterMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      try {
        this.#writing.exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (sqliteCode(error) !== "SQLITE_BUSY" || performance.now() > until) throw error;
      }
      await sleep(pauseMs);
    }
  }
}

function writingConnection(file: string): SqliteConnection {
  const connection = new SqliteConnection(file);
  // A commit is on the disk before it can be read.
  connection.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${logBytes}; PRAGMA busy_timeout = 0`);
  return connection;
}
