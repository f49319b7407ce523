import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The first bytes of a meta page that matter here. LMDB's file begins with two of them. */
const metaBytes = 160;
const magic = 0xbeef_c0de;
/** The offsets of a meta page's fields. */
const at = { magic: 24, pageBytes: 48, lastPage: 144, transaction: 152 };

/** The head of an LMDB file, as the newer of its two meta pages has it. */
export interface MetaPage {
  /** The number of the newest transaction; 0: there was none. */
  readonly transaction: number;
  /** The bytes that the file must have. */
  readonly bytes: number;
}

/**
 * Reads the head of an open file, which other processes may write meanwhile. Undefined: the file is empty, as LMDB
 * makes it. Throws an error whose message says what is wrong with the head.
 */
export function readMetaPage(handle: number): MetaPage | undefined {
  if (fstatSync(handle).size === 0) return undefined;
  const head = Buffer.alloc(metaBytes);
  readSync(handle, head, 0, metaBytes, 0);
  const pageBytes = head.readUInt32LE(at.pageBytes);
  if (head.readUInt32LE(at.magic) !== magic || pageBytes < 512 || pageBytes > 65_536)
    throw new Error("it is no LMDB file");
  const second = Buffer.alloc(metaBytes);
  readSync(handle, second, 0, metaBytes, pageBytes);
  if (second.readUInt32LE(at.magic) !== magic) throw new Error("its beginning is damaged");
  const newest = head.readBigUInt64LE(at.transaction) > second.readBigUInt64LE(at.transaction) ? head : second;
  return {
    transaction: Number(newest.readBigUInt64LE(at.transaction)),
    bytes: (Number(newest.readBigUInt64LE(at.lastPage)) + 1) * pageBytes,
  };
}

/** Opens a file for reading, for as long as `use` needs it. */
export function withFile<T>(file: string, use: (handle: number) => T): T {
  const handle = openSync(file, "r");
  try {
    return use(handle);
  } finally {
    closeSync(handle);
  }
}
