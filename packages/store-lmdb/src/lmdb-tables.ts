import { existsSync } from "node:fs";
import { XdskitError } from "@xdskit/api";
import { damaged, type Reader, type TableName, type Tables, tableNames, type Writer } from "@xdskit/server/tables";
import { type Database, open, type RootDatabase } from "lmdb";
import { damageCodes } from "./check-file.js";
import { DurableWrites, systemError, unwritten } from "./durable-writes.js";
import { readMetaPage, withFile } from "./meta-pages.js";
import { mostTries, NewestTransaction } from "./newest-transaction.js";

/**
 * The addresses that LMDB sets aside for the file, in bytes: no memory, and more than any state needs. If another
 * process makes the file larger than this, LMDB's package maps it anew, in the thread that reads, while the one that
 * writes may be working out where to write by the map.
 */
const mapBytes = 16 * 1024 ** 3;

/** Where each transaction that changes something puts its number. */
const transactionKey = ["meta", "transaction"] as const;

/** After the last possible key with a prefix: keys are ASCII. */
const afterAll = "\u007f";

/** How a file is opened. */
export interface LmdbTablesOptions {
  /** Called if a part cannot be read. */
  readonly onDamage?: () => void;
  /** Called once it is closed. */
  readonly closed?: () => Promise<void>;
  readonly readOnly?: boolean;
}

type Databases = ReadonlyMap<TableName, Database<unknown, string>>;

interface Opened {
  readonly file: string;
  readonly root: RootDatabase;
  readonly databases: Databases;
  readonly newest: NewestTransaction;
}

/** The tables of a store in one LMDB environment. Several processes may have it open. */
export class LmdbTables implements Tables {
  readonly #file: string;
  readonly #root: RootDatabase;
  readonly #writes: DurableWrites;
  readonly #databases: Databases;
  readonly #newest: NewestTransaction;
  readonly #onDamage: () => void;
  readonly #closed: () => Promise<void>;
  readonly isReadOnly: boolean;
  /** Whether the work under way has changed something. */
  #isChanged = false;
  /** The newest transaction of this store that was read, or written here. */
  #seen = 0;

  private constructor({ file, root, databases, newest }: Opened, options: LmdbTablesOptions) {
    this.#file = file;
    this.#root = root;
    this.#databases = databases;
    this.#newest = newest;
    this.#writes = new DurableWrites(root, file, newest);
    this.#onDamage = options.onDamage ?? (() => {});
    this.#closed = options.closed ?? (async () => {});
    this.isReadOnly = options.readOnly ?? false;
  }

  /** Opens the file, or makes it unless it is `readOnly`. Rejects with LMDB's errors. */
  static async open(file: string, options: LmdbTablesOptions = {}): Promise<LmdbTables> {
    return new LmdbTables(await opened(file, options.readOnly ?? false), options);
  }

  read<T>(work: (reader: Reader) => T): T {
    try {
      this.#mustNotGoBack();
      return work(this.#tables);
    } catch (error) {
      throw this.#asStoreError(error);
    }
  }

  /** What is read now is never older than what was read before. */
  #mustNotGoBack(): void {
    this.#newest.waitUntil(() => {
      const number = this.#tables.get<number>(...transactionKey) ?? 0;
      const isNew = number >= this.#seen;
      if (isNew) this.#seen = number;
      else this.#root.resetReadTxn();
      return isNew;
    });
  }

  /** An error that damage causes has the next start check all of the file. Those of the system have its numbers. */
  #asStoreError(error: unknown): unknown {
    if (error instanceof XdskitError) return error;
    const ofSystem = systemError(error);
    if (ofSystem !== undefined) return unwritten(ofSystem, this.#file);
    const { code, message } = error as NodeJS.ErrnoException;
    const where = { file: this.#file };
    // A value that cannot be decoded has no code.
    if (typeof code === "number" && !damageCodes.has(code))
      return XdskitError.of("XDSKIT_STORE", `it cannot be used: ${message}`, where, { cause: error });
    this.#onDamage();
    return damaged(message, where, error);
  }

  async write<T>(work: (writer: Writer) => T): Promise<T> {
    if (this.isReadOnly)
      throw XdskitError.of("XDSKIT_STORE", "the store cannot be written, only read", { file: this.#file });
    let failed: { readonly error: unknown } | undefined;
    let result: T | undefined;
    await this.#writes.run(() => {
      failed = undefined;
      try {
        this.#isChanged = false;
        result = work(this.#tables);
        if (this.#isChanged) this.#tables.put(...transactionKey, this.#root.getWriteTxnId());
        return "keep";
      } catch (error) {
        failed = { error };
        return "abort";
      }
    });
    if (failed !== undefined) throw this.#asStoreError(failed.error);
    return result as T;
  }

  async close(): Promise<void> {
    await this.#writes.close();
    this.#newest.close();
    await this.#closed();
  }

  #database(name: TableName): Database<unknown, string> {
    return this.#databases.get(name) as Database<unknown, string>;
  }

  readonly #tables: Writer = {
    get: <T>(table: TableName, key: string) => this.#database(table).get(key) as T | undefined,
    range: <T>(table: TableName, prefix: string, order: "ascending" | "descending" = "ascending") => {
      const between = { start: prefix, end: prefix + afterAll };
      const back = { start: between.end, end: between.start, reverse: true };
      const found = this.#database(table).getRange(order === "ascending" ? between : back);
      return found.map(({ key, value }) => [key, value as T] as const);
    },
    put: (table, key, value) => {
      this.#isChanged = true;
      this.#database(table).putSync(key, value);
    },
    remove: (table, key) => {
      this.#isChanged = true;
      this.#database(table).removeSync(key);
    },
  };
}

async function opened(file: string, readOnly: boolean): Promise<Opened> {
  const { root, newest } = await openedRoot(file, readOnly);
  try {
    return { file, root, databases: await openedTables(root, newest, readOnly), newest };
  } catch (error) {
    newest.close();
    await root.close();
    throw error;
  }
}

async function openedRoot(file: string, readOnly: boolean): Promise<Pick<Opened, "root" | "newest">> {
  for (let tries = 1; ; tries += 1) {
    const before = existsSync(file) ? withFile(file, readMetaPage) : undefined;
    const root = open({
      ...{ path: file, noSubdir: true, maxDbs: tableNames.length, cache: false, readOnly },
      mapSize: mapBytes,
      // Otherwise LMDB's package flushes after the commit, under a lock of its own. If a process is killed under it,
      // the next one takes it for the lock of writers, and may set the newest transaction back while others write.
      overlappingSync: false,
    });
    try {
      const newest = new NewestTransaction(file);
      if (newest.number() === (before?.transaction ?? 0) || tries === mostTries) return { root, newest };
      newest.close();
    } catch (error) {
      await root.close();
      throw error;
    }
    await root.close();
  }
}

async function openedTables(root: RootDatabase, newest: NewestTransaction, readOnly: boolean): Promise<Databases> {
  const openAll = () =>
    new Map(
      tableNames.map((name) => {
        const encoding = name === "contents" ? "binary" : "json";
        return [name, root.openDB<unknown, string>({ name, encoding })] as const;
      }),
    );
  if (readOnly) return openAll();
  // Each of them would be a commit of its own, which waits for the disk, when the file is new.
  const made = () => root.transactionSync(() => (newest.isBase(root.getWriteTxnId()) ? openAll() : undefined));
  return await newest.onNewest(made);
}
