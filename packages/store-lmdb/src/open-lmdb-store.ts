import { writeFileSync } from "node:fs";
import { access, chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import { RevisionStore, type Store } from "@xdskit/server";
import { isReadable, wrongHead } from "./check-file.js";
import { LmdbTables } from "./lmdb-tables.js";
import { WriteThread } from "./write-thread/write-thread.js";

/** The first format is the only one. A new number marks files that this version would misread. */
const format = 1;

const fileName = "revisions.mdb";
/** Exists while a process opens the file. If it still exists later, the file may have ended the process. */
const openingName = "opening";

/** An open store. */
export interface OpenedStore {
  readonly store: Store;
  /** The damaged files that were set aside, or the reason why the store cannot be written. */
  readonly findings: readonly Finding[];
  /** True if its earlier content is missing: the file was damaged, and is set aside. */
  readonly isLost: boolean;
  /** The store can be read, and nothing can be written. */
  readonly isReadOnly: boolean;
}

/** Options for opening a store. */
export interface OpenLmdbOptions {
  /**
   * Why the existing file must be set aside: reading it failed before. Undefined if it may stay, as long as it is
   * whole.
   */
  readonly damage?: string | undefined;
}

/**
 * Opens the store in a folder, and makes it if it is missing: mode 0700 for the folder and 0600 for its files, since
 * resources may hold private keys. Several processes may have it open. A damaged file is set aside under another name,
 * never deleted, and the findings say so.
 *
 * An existing file that cannot be written is opened for reading only, and the findings say so.
 *
 * Rejects with XDSKIT_STORE if the folder cannot be written and there is no file, or if a newer xdskit wrote the file.
 */
export async function openLmdbStore(directory: string, options: OpenLmdbOptions = {}): Promise<OpenedStore> {
  const file = join(directory, fileName);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const damage = (await exists(file)) ? (options.damage ?? (await damageOf(directory, file))) : undefined;
    const findings = damage === undefined ? [] : [await setAside(file, damage)];
    await writeFile(join(directory, openingName), "", { mode: 0o600 });
    const store = await opened(directory, file);
    await rm(join(directory, openingName), { force: true });
    return { store, findings, isLost: damage !== undefined, isReadOnly: false };
  } catch (error) {
    if (error instanceof XdskitError) throw error;
    const reason = reasonOf(error as NodeJS.ErrnoException);
    if (unwritable.has(reason) && options.damage === undefined && (await exists(file)))
      return await openedToRead(directory, file, reason);
    throw XdskitError.of("XDSKIT_STORE", `it cannot be opened: ${reason}`, { file: directory }, { cause: error });
  }
}

/**
 * Opens the store in a folder for reading, even if other processes have it open. It changes nothing there, whatever the
 * damage. Rejects with XDSKIT_STORE if there is none, or if it cannot be read.
 */
export async function readLmdbStore(directory: string): Promise<Store> {
  const file = join(directory, fileName);
  if (!(await exists(file)))
    throw XdskitError.of("XDSKIT_STORE", "there is no state in this folder", { file: directory });
  const damage = await damageOf(directory, file);
  if (damage !== undefined) throw XdskitError.of("XDSKIT_STORE", damage, { file });
  return await readOnlyStore(directory, file);
}

/** A full or read-only disk; a file or folder of another user. */
const unwritable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"]);

/** LMDB's errors have the system's error number instead of its name. */
function reasonOf({
  code,
  message,
}: {
  readonly code?: string | number | undefined;
  readonly message: string;
}): string {
  const named = Object.entries(constants.errno).find(([, number]) => number === code)?.[0];
  return named ?? (code === undefined ? message : `${code}`);
}

async function openedToRead(directory: string, file: string, reason: string): Promise<OpenedStore> {
  const damage = await damageOf(directory, file);
  if (damage !== undefined)
    throw XdskitError.of("XDSKIT_STORE", `${damage}, and it cannot be set aside: ${reason}`, { file });
  const store = await readOnlyStore(directory, file);
  const message = `it cannot be written (${reason}): what it held is served, no revisions are kept, and the API refuses changes`;
  const finding: Finding = { code: "XDSKIT_STORE", severity: "warning", message, file };
  return { store, findings: [finding], isLost: false, isReadOnly: true };
}

async function readOnlyStore(directory: string, file: string): Promise<Store> {
  const tables = new LmdbTables(file, { readOnly: true });
  try {
    mustBeReadable(tables, file);
    return await RevisionStore.open(`lmdb ${directory}`, tables);
  } catch (error) {
    await tables.close();
    throw error;
  }
}

/** Returns the format of the file; undefined if nothing was written yet. Throws if this version would misread it. */
function mustBeReadable(tables: LmdbTables, file: string): number | undefined {
  const found = tables.read((reader) => reader.get<number>("meta", "format"));
  if (found === undefined || found <= format) return found;
  const message = `a newer xdskit wrote it, in format ${found}; this one reads format ${format}`;
  throw XdskitError.of("XDSKIT_STORE", message, { file });
}

async function opened(directory: string, file: string): Promise<Store> {
  const marked = join(directory, openingName);
  const tables = new LmdbTables(file, { damaged: () => writeFileSync(marked, "", { mode: 0o600 }) });
  try {
    for (const path of [file, `${file}-lock`]) await chmod(path, 0o600);
    let found: number | undefined;
    try {
      found = mustBeReadable(tables, file);
    } catch (error) {
      await rm(marked, { force: true });
      throw error;
    }
    if (found === undefined) await tables.write((writer) => writer.put("meta", "format", format));
    return await RevisionStore.open(`lmdb ${directory}`, tables, new WriteThread(file));
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function damageOf(directory: string, file: string): Promise<string | undefined> {
  const wrong = await wrongHead(file);
  if (wrong === undefined && !(await exists(join(directory, openingName)))) return undefined;
  // A file may also be shorter than its head says: only reading tells.
  return (await isReadable(file)) ? undefined : (wrong ?? "it cannot be read");
}

async function setAside(file: string, damage: string): Promise<Finding> {
  const aside = `${file}.set-aside-${new Date().toISOString().replace(/[-:.]/g, "")}`;
  await rename(file, aside);
  await rm(`${file}-lock`, { force: true });
  const message = `${damage}; it was set aside as ${aside}, and history begins anew`;
  return { code: "XDSKIT_STORE", severity: "error", message, file };
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
