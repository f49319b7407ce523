import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { XdskitError } from "@xdskit/api";
import { tableNames } from "@xdskit/server";

/** The first bytes of LMDB's two meta pages that matter here, in each. */
const metaBytes = 160;
const magic = 0xbeef_c0de;
/** The offsets of a meta page's fields. */
const at = { magic: 24, pageBytes: 48, lastPage: 144, transaction: 152 };

/**
 * Why a file cannot be a whole LMDB file; undefined if its head is right. LMDB itself does not check: it ends the
 * process if a file is cut off or is something else.
 */
export async function wrongHead(file: string): Promise<string | undefined> {
  const handle = await open(file, "r");
  try {
    // LMDB makes an empty file before it writes to it.
    if ((await handle.stat()).size === 0) return undefined;
    const head = Buffer.alloc(metaBytes);
    await handle.read(head, 0, metaBytes, 0);
    const pageBytes = head.readUInt32LE(at.pageBytes);
    if (head.readUInt32LE(at.magic) !== magic || pageBytes < 512 || pageBytes > 65_536) return "it is no LMDB file";
    const second = Buffer.alloc(metaBytes);
    await handle.read(second, 0, metaBytes, pageBytes);
    if (second.readUInt32LE(at.magic) !== magic) return "its beginning is damaged";
    const newest = head.readBigUInt64LE(at.transaction) > second.readBigUInt64LE(at.transaction) ? head : second;
    const bytes = (newest.readBigUInt64LE(at.lastPage) + 1n) * BigInt(pageBytes);
    // After the heads: another process may write.
    const { size } = await handle.stat();
    return bytes > size ? `it is cut off: ${size} of ${bytes} bytes are there` : undefined;
  } finally {
    await handle.close();
  }
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

/** Whether all of a file can be read. Rejects if that cannot be told, such as for a reader that took too long. */
export async function isReadable(file: string): Promise<boolean> {
  const args = ["--input-type=module", "-e", readAll, "--", import.meta.resolve("lmdb"), file, ...tableNames];
  const reader = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"], timeout: readAllMs });
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
