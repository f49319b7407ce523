import { access, constants, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import { RevisionStore, type Store } from "@xdskit/server";
import { FolderLock } from "./folder-lock.js";
import { mustBeOwn } from "./own-folder.js";
import { type OpenedAs, sqliteCode } from "./sqlite-connection.js";
import { SqliteTables } from "./sqlite-tables.js";
import { isOfSystem, reasonOf, unread } from "./store-errors.js";
import { accept, lookAt, makeStore, setAside, sizeOf } from "./store-file.js";
import { WriteThread } from "./write-thread/write-thread.js";

const fileName = "revisions.db";

/** The file of an earlier xdskit, in the format of LMDB. */
const earlierName = "revisions.mdb";

/** An open store. */
export interface OpenedStore {
  readonly store: Store;
  /** The damaged files that were set aside, what is missing, or the reason why the store cannot be written. */
  readonly findings: readonly Finding[];
  /** True if its earlier content is missing: the file was damaged, and is set aside. */
  readonly isLost: boolean;
  /** The store can be read, and nothing can be written. */
  readonly isReadOnly: boolean;
}

/**
 * Opens the store in a folder, and makes it if it is missing: mode 0700 for the folder and 0600 for its files, since
 * resources may hold private keys. Several processes may have it open: the first one looks at all of it. A damaged file
 * is set aside under another name, never deleted, and the findings say so. They also say if the newest transactions
 * are missing: what is left is used then.
 *
 * An existing file that cannot be written is opened for reading only, and the findings say so.
 *
 * Rejects with XDSKIT_STORE if the folder cannot be written and there is no file, if other users may write to the
 * folder, if a newer xdskit wrote the file, or if it is damaged while another process has it open: what that one writes
 * would go with the file.
 *
 * @example
 * ```ts
 * import { openSqliteStore } from "@xdskit/store-sqlite";
 *
 * const { store } = await openSqliteStore("./state");
 * for (const revision of await store.history("api", { limit: 10 })) console.log(revision.number, revision.message);
 * await store.close();
 * ```
 */
export async function openSqliteStore(directory: string): Promise<OpenedStore> {
  const file = fileIn(directory, "openSqliteStore");
  let lock: FolderLock | undefined;
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await mustBeOwn(directory);
    if ((await sizeOf(file)) >= 0) await access(file, constants.W_OK);
    lock = await FolderLock.of(directory);
    const { findings: found, isLost } = (await lock.share(() => prepare(file))) ?? well;
    const earlier = await earlierIn(directory);
    const store = await opened(directory, file, lock);
    return { store, findings: [...earlier, ...found], isLost: isLost || earlier.length > 0, isReadOnly: false };
  } catch (error) {
    lock?.close();
    const reason = unwritableFor(error);
    if (reason !== undefined && (await sizeOf(file).catch(() => -1)) >= 0)
      return await openedToRead(directory, file, reason);
    if (error instanceof XdskitError) throw error;
    const message = `it cannot be opened: ${reason ?? reasonOf(error)}`;
    throw XdskitError.of("XDSKIT_STORE", message, { file: directory }, { cause: error });
  }
}

/**
 * Opens the store in a folder for reading, even if other processes have it open. It changes nothing of what it holds,
 * whatever the damage. Rejects with XDSKIT_STORE if there is none, or if it cannot be read.
 */
export async function readSqliteStore(directory: string): Promise<Store> {
  const file = fileIn(directory, "readSqliteStore");
  if ((await sizeOf(file)) < 0)
    throw XdskitError.of("XDSKIT_STORE", "there is no state in this folder", { file: directory });
  return (await readOnlyStore(directory, file)).store;
}

/** Programs may be untyped. */
function fileIn(directory: unknown, call: string): string {
  if (typeof directory === "string" && directory !== "") return join(directory, fileName);
  throw XdskitError.of("XDSKIT_STORE", `${call} takes a folder, such as "./state"`);
}

/** What was found, and done, before the file is opened. */
interface PreparedFile {
  readonly findings: readonly Finding[];
  readonly isLost: boolean;
}

const well: PreparedFile = { findings: [], isLost: false };

/** Looks at a file that nobody else has open, sets it aside if it is damaged, and makes it if there is none. */
async function prepare(file: string): Promise<PreparedFile> {
  const looked = await lookAt(file);
  switch (looked.kind) {
    case "newer":
      throw XdskitError.of("XDSKIT_STORE", looked.reason, { file });
    case "whole":
      if (looked.missing === 0) return well;
      await accept(file);
      return { findings: [missingFrom(file, looked.missing)], isLost: false };
    case "nothing":
      await makeStore(file);
      return well;
    case "damaged": {
      const aside = await setAside(file);
      await makeStore(file);
      const where = aside === undefined ? "" : `it was set aside as ${aside}, and `;
      return { findings: [problem(`${looked.damage}; ${where}history begins anew`, file)], isLost: true };
    }
  }
}

function missingFrom(file: string, count: number): Finding {
  const what = count === 1 ? "the newest change is" : `the newest ${count} changes are`;
  return problem(`${what} missing, since a part of ${file}-wal was damaged or removed; what is left is served`, file);
}

/** The file of an earlier xdskit is left, and named until it is gone. */
async function earlierIn(directory: string): Promise<readonly Finding[]> {
  const file = join(directory, earlierName);
  if ((await sizeOf(file)) < 0) return [];
  const quoted = `'${file.replaceAll("'", "'\\''")}'`;
  const steps = `start the earlier xdskit, "xdskit export backup.json --show-secrets --state ${directory}", then this one, "xdskit import backup.json"`;
  const message = `an earlier xdskit kept it, and this one cannot read it. To drop it, run: rm ${quoted} ; to keep what it holds, first ${steps}`;
  return [problem(message, file)];
}

async function opened(directory: string, file: string, lock: FolderLock): Promise<Store> {
  let tables: SqliteTables | undefined;
  try {
    tables = new SqliteTables(file, { closed: async () => lock.close() });
    return await RevisionStore.open(`sqlite ${directory}`, tables, new WriteThread(file));
  } catch (error) {
    await tables?.close();
    if (isOfSystem(error)) throw error;
    // It was whole when the first process opened it, and some process has it open.
    const message = `${reasonOf(unread(error, file))}; it stays where it is, since another process has it open`;
    throw XdskitError.of("XDSKIT_STORE", message, { file });
  }
}

/** A full or read-only disk; a file or folder of another user. */
const unwritable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"]);

/** Why nothing can be written; undefined: that is not the reason. */
function unwritableFor(error: unknown): string | undefined {
  const cause = error instanceof XdskitError ? error.cause : error;
  const { code = "", message } = (cause ?? {}) as NodeJS.ErrnoException;
  if (unwritable.has(code)) return code;
  return isOfSystem(cause) ? message : undefined;
}

async function openedToRead(directory: string, file: string, reason: string): Promise<OpenedStore> {
  const { store, findings } = await readOnlyStore(directory, file).catch((error: unknown) => {
    const message = `${reasonOf(error)}, and it cannot be written: ${reason}`;
    throw XdskitError.of("XDSKIT_STORE", message, { file }, { cause: error });
  });
  const message = `it cannot be written (${reason}): what it had is served, no revisions are kept, and the API refuses changes`;
  const said: Finding = { code: "XDSKIT_STORE", severity: "warning", message, file };
  return { store, findings: [said, ...findings], isLost: false, isReadOnly: true };
}

async function readOnlyStore(directory: string, file: string): Promise<Pick<OpenedStore, "store" | "findings">> {
  try {
    return await readStore(directory, file, "to read");
  } catch (error) {
    // Beside the file there must be another one, which cannot be made. It is needed only if the log holds something.
    if (sqliteCode(error) !== "SQLITE_CANTOPEN" || (await sizeOf(`${file}-wal`)) > 0) throw error;
    return await readStore(directory, file, "immutable");
  }
}

async function readStore(
  directory: string,
  file: string,
  as: OpenedAs,
): Promise<Pick<OpenedStore, "store" | "findings">> {
  const looked = await lookAt(file, as);
  if (looked.kind === "newer") throw XdskitError.of("XDSKIT_STORE", looked.reason, { file });
  if (looked.kind === "damaged") throw XdskitError.of("XDSKIT_STORE", `it is damaged: ${looked.damage}`, { file });
  if (looked.kind === "nothing") throw XdskitError.of("XDSKIT_STORE", "it has nothing yet", { file });
  const tables = new SqliteTables(file, { as });
  const store = await RevisionStore.open(`sqlite ${directory}`, tables);
  return { store, findings: looked.missing === 0 ? [] : [missingFrom(file, looked.missing)] };
}

function problem(message: string, file: string): Finding {
  return { code: "XDSKIT_STORE", severity: "error", message, file };
}
