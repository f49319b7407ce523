import { chmod, mkdir, rename, rm, stat } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import { RevisionStore, type Store } from "@xdskit/server";
import { isReadable, wrongHead } from "./check-file.js";
import { systemError } from "./durable-writes.js";
import { LmdbTables } from "./lmdb-tables.js";
import { OpenMarks } from "./open-marks.js";
import { WriteThread } from "./write-thread/write-thread.js";

/** The first format is the only one. A new number marks files that this version would misread. */
const format = 1;

const fileName = "revisions.mdb";

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
 * Rejects with XDSKIT_STORE if the folder cannot be written and there is no file, if a newer xdskit wrote the file, or
 * if it is damaged while another process has it open: what that one writes would go with the file.
 */
export async function openLmdbStore(directory: string, options: OpenLmdbOptions = {}): Promise<OpenedStore> {
  const file = join(directory, fileName);
  const marks = new OpenMarks(directory);
  const findings: Finding[] = [];
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (let tries = 1; tries <= mostTries; tries += 1) {
      // Only the first of these files is known to be damaged.
      if (!(await asideIfDamaged(file, marks, tries === 1 ? options.damage : undefined, findings))) continue;
      await marks.opening();
      const store = await openedAt(directory, file, marks);
      if (store === undefined) continue;
      await marks.open();
      return { store, findings, isLost: findings.length > 0, isReadOnly: false };
    }
    throw XdskitError.of("XDSKIT_STORE", "other processes set it aside again and again", { file });
  } catch (error) {
    await marks.notOpened();
    if (error instanceof XdskitError) throw error;
    const reason = reasonOf(error as NodeJS.ErrnoException);
    if (unwritable.has(reason) && options.damage === undefined && (await identityOf(file)) !== undefined)
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
  if ((await identityOf(file)) === undefined)
    throw XdskitError.of("XDSKIT_STORE", "there is no state in this folder", { file: directory });
  const damage = await damageOf(file, new OpenMarks(directory));
  if (damage !== undefined) throw XdskitError.of("XDSKIT_STORE", damage, { file });
  return await readOnlyStore(directory, file);
}

/** How often a file is opened while other processes set it aside. */
const mostTries = 3;

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
  const damage = await damageOf(file, new OpenMarks(directory));
  if (damage !== undefined)
    throw XdskitError.of("XDSKIT_STORE", `${damage}, and it cannot be set aside: ${reason}`, { file });
  const store = await readOnlyStore(directory, file);
  const message = `it cannot be written (${reason}): what it held is served, no revisions are kept, and the API refuses changes`;
  const finding: Finding = { code: "XDSKIT_STORE", severity: "warning", message, file };
  return { store, findings: [finding], isLost: false, isReadOnly: true };
}

async function readOnlyStore(directory: string, file: string): Promise<Store> {
  const tables = await LmdbTables.open(file, { readOnly: true });
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

async function opened(directory: string, file: string, marks: OpenMarks): Promise<Store> {
  const tables = await tablesOf(file, marks);
  try {
    for (const path of [file, `${file}-lock`]) await chmod(path, 0o600);
    const found = mustBeReadable(tables, file);
    if (found === undefined) await tables.write((writer) => writer.put("meta", "format", format));
    return await RevisionStore.open(`lmdb ${directory}`, tables, new WriteThread(file));
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function tablesOf(file: string, marks: OpenMarks): Promise<LmdbTables> {
  try {
    return await LmdbTables.open(file, { onDamage: () => marks.suspect(), closed: () => marks.closed() });
  } catch (error) {
    if (!(error instanceof XdskitError) && systemError(error) === undefined) marks.suspect();
    throw error;
  }
}

async function damageOf(file: string, marks: OpenMarks): Promise<string | undefined> {
  const wrong = wrongHead(file);
  if (wrong === undefined && !(await marks.look()).isSuspect) return undefined;
  // A file may also be shorter than its head says: only reading tells.
  return (await isReadable(file)) ? undefined : (wrong ?? "it cannot be read");
}

/** Undefined: another process set the file aside while it was being opened. */
async function openedAt(directory: string, file: string, marks: OpenMarks): Promise<Store | undefined> {
  const identity = await identityOf(file);
  const store = await opened(directory, file, marks);
  if (identity === undefined || (await identityOf(file)) === identity) return store;
  await store.close();
  await marks.notOpened();
  return undefined;
}

/**
 * Sets the file of a folder aside if it is damaged, or if `known` says so, and notes that. False: another process did
 * so meanwhile, and there may be another file. Rejects if another process has it open.
 */
async function asideIfDamaged(
  file: string,
  marks: OpenMarks,
  known: string | undefined,
  findings: Finding[],
): Promise<boolean> {
  const identity = await identityOf(file);
  const damage = identity === undefined ? undefined : (known ?? (await damageOf(file, marks)));
  if (damage !== undefined) {
    const { users } = await marks.look();
    if (users.length > 0) {
      const processes = users.map((pid) => `process ${pid}`).join(", ");
      throw XdskitError.of("XDSKIT_STORE", `${damage}; it stays where it is, since ${processes} has it open`, { file });
    }
    if ((await identityOf(file)) !== identity) return false;
    const finding = await setAside(file, damage);
    if (finding === undefined) return false;
    findings.push(finding);
  }
  await marks.clear();
  return true;
}

/** Undefined: it is there no more. */
async function setAside(file: string, damage: string): Promise<Finding | undefined> {
  const aside = `${file}.set-aside-${new Date().toISOString().replace(/[-:.]/g, "")}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
  await rm(`${file}-lock`, { force: true });
  const message = `${damage}; it was set aside as ${aside}, and history begins anew`;
  return { code: "XDSKIT_STORE", severity: "error", message, file };
}

/** Differs for each file that has this path in turn; undefined: there is none. */
async function identityOf(file: string): Promise<number | undefined> {
  return await stat(file).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
