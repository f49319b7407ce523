import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fstatSync } from "node:fs";
import { XdskitError } from "@xdskit/api";
import { tableNames } from "@xdskit/server";
import { type MetaPage, readMetaPage, withFile } from "./meta-pages.js";

/**
 * Why a file cannot be a whole LMDB file; undefined if its head is right. LMDB itself does not check: it ends the
 * process if a file is cut off or is something else. Throws the system's errors.
 */
export function wrongHead(file: string): string | undefined {
  return withFile(file, (handle) => {
    let head: MetaPage | undefined;
    try {
      head = readMetaPage(handle);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== undefined) throw error;
      return (error as Error).message;
    }
    // After the head: another process may write.
    const { size } = fstatSync(handle);
    return head !== undefined && head.bytes > size
      ? `it is cut off: ${size} of ${head.bytes} bytes are there`
      : undefined;
  });
}

/**
 * LMDB's errors that a damaged file causes: MDB_PAGE_NOTFOUND, MDB_CORRUPTED, MDB_VERSION_MISMATCH, MDB_INVALID, and
 * MDB_CURSOR_FULL for a tree that is too deep.
 */
export const damageCodes: ReadonlySet<number> = new Set([-30797, -30796, -30794, -30793, -30787]);

/**
 * Reads all of a file, in a separate process: a damaged page may end it. Other errors say nothing about the file, such
 * as that a process may open no more files.
 */
const readAll = `
const [lmdb, file, ...names] = process.argv.slice(1);
try {
  const { open } = await import(lmdb);
  const root = open({ path: file, noSubdir: true, maxDbs: names.length, readOnly: true, overlappingSync: false });
  // There is no table yet if the process that made the file ended within its first transaction.
  for (const name of names) for (const _ of root.openDB({ name, encoding: "binary" })?.getRange({}) ?? []);
} catch (error) {
  console.error(error.message);
  process.exit([${[...damageCodes]}].includes(error.code) ? 1 : 2);
}
`;

/** The time that reading all of a file may take, in milliseconds: far more than a disk needs. */
const readAllMs = 60_000;

const readerArgs = (file: string, tables: readonly string[]): readonly string[] => [
  ...["--input-type=module", "-e", readAll, "--", import.meta.resolve("lmdb"), file, ...tables],
];

/**
 * Opens a file in a separate process, which tells the processes that have it open which transaction is the newest.
 * Throws XDSKIT_STORE with what that process said if it cannot.
 */
export function openElsewhere(file: string): void {
  const { status, signal, stderr, error } = spawnSync(process.execPath, readerArgs(file, []), { timeout: readAllMs });
  if (status === 0) return;
  const reason = error?.message ?? signal ?? stderr.toString().trim().slice(0, 500);
  throw XdskitError.of("XDSKIT_STORE", `it cannot be opened: ${reason}`, { file });
}

/** Whether all of a file can be read. Rejects if that cannot be told, such as for a reader that took too long. */
export async function isReadable(file: string): Promise<boolean> {
  const reader = spawn(process.execPath, readerArgs(file, tableNames), {
    stdio: ["ignore", "ignore", "pipe"],
    timeout: readAllMs,
  });
  const said: Buffer[] = [];
  reader.stderr.on("data", (part: Buffer) => said.push(part));
  const [code, signal] = (await once(reader, "close")) as [number | null, NodeJS.Signals | null];
  if (code === 0) return true;
  const text = Buffer.concat(said).toString().trim();
  // A process aborts also if it has no more memory. LMDB names its file when it finds that something cannot be.
  const isAborted = signal === "SIGABRT" && /\bmdb\.c\b/.test(text);
  if (code === 1 || signal === "SIGBUS" || signal === "SIGSEGV" || isAborted) return false;
  const reason = signal ?? text.slice(0, 500);
  throw XdskitError.of("XDSKIT_STORE", `nobody knows whether it is damaged, since it could not be read: ${reason}`, {
    file,
  });
}
