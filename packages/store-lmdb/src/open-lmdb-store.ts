import { writeFileSync } from "node:fs";
import { access, chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Finding, XdskitError } from "@xdskit/api";
import { RevisionStore, type Store } from "@xdskit/server";
import { isReadable, wrongHead } from "./check-file.js";
import { LmdbTables } from "./lmdb-tables.js";
import { WriteThread } from "./write-thread/write-thread.js";

/** The first format is the only one. A new number marks files that this version would misread. */
const format = 1;

const fileName = "revisions.mdb";
/** There while a process opens the file. If it is still there later, the process may have died of the file. */
const openingName = "opening";

/** An open store. */
export interface OpenedStore {
  readonly store: Store;
  /** What was found wrong and set aside. */
  readonly findings: readonly Finding[];
}

/**
 * Opens the store in a folder, and makes it where it is missing: mode 0700 for the folder and 0600 for its files, since
 * resources may hold private keys. Several processes may have it open. A damaged file is set aside under another name,
 * never deleted, and the findings say so.
 *
 * Rejects with XDSKIT_STORE if the folder cannot be written, or if a newer xdskit wrote the file.
 */
export async function openLmdbStore(directory: string): Promise<OpenedStore> {
  const file = join(directory, fileName);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const damage = await damageOf(directory, file);
    const findings = damage === undefined ? [] : [await setAside(file, damage)];
    await writeFile(join(directory, openingName), "", { mode: 0o600 });
    const store = await opened(directory, file);
    await rm(join(directory, openingName), { force: true });
    return { store, findings };
  } catch (error) {
    if (error instanceof XdskitError) throw error;
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw XdskitError.of("XDSKIT_STORE", `it cannot be opened: ${reason}`, { file: directory }, { cause: error });
  }
}

async function opened(directory: string, file: string): Promise<Store> {
  const tables = new LmdbTables(file, () => writeFileSync(join(directory, openingName), "", { mode: 0o600 }));
  try {
    for (const path of [file, `${file}-lock`]) await chmod(path, 0o600);
    const found = tables.read((reader) => reader.get<number>("meta", "format"));
    if (found !== undefined && found > format) {
      await rm(join(directory, openingName), { force: true });
      const message = `a newer xdskit wrote it, in format ${found}; this one reads format ${format}`;
      throw XdskitError.of("XDSKIT_STORE", message, { file });
    }
    if (found === undefined) await tables.write((writer) => writer.put("meta", "format", format));
    return await RevisionStore.open(`lmdb ${directory}`, tables, new WriteThread(file));
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function damageOf(directory: string, file: string): Promise<string | undefined> {
  if (!(await exists(file))) return undefined;
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
