import fs from "node:fs";
import { contentIdentity, errnoOf, errnoText, isAbsence, sameIdentity } from "./metadata.js";

/** The result of reading a file. */
export type FileBytes =
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly identity: string; readonly doubtful: boolean }
  /** The file exists but cannot be used: too large, not a regular file, forbidden. */
  | { readonly kind: "refused"; readonly reason: string; readonly doubtful: boolean }
  /** It was written or removed in the meantime. */
  | { readonly kind: "moved" };

/**
 * File time stamps advance in ticks of some milliseconds. A file that was written just before it was read can change
 * again without a new size or time. Such a reading is doubtful, and is repeated at the next scan.
 */
const tickMs = 20;

/** Errors that may disappear a moment later. */
const passing = new Set(["EIO", "EMFILE", "ENFILE", "EBUSY", "EAGAIN", "ESTALE", "ENOMEM"]);

/**
 * Reads a whole file of at most `maxBytes`, and never blocks on a pipe.
 *
 * Only calls that may wait for a disk or another machine (open and read) go through the thread pool. The kernel knows
 * an open file's metadata, so that call is synchronous: it costs a fifth of a round trip through the pool, and these
 * round trips dominate the cost of many small files.
 */
export async function readWholeFile(path: string, maxBytes: number): Promise<FileBytes> {
  let file: number | undefined;
  const began = Date.now();
  try {
    file = await open(path);
    const before = fs.fstatSync(file, { bigint: true });
    const refused = refusal(before, maxBytes);
    if (refused !== undefined) return refused;
    const bytes = new Uint8Array(Number(before.size));
    let length = 0;
    while (length < bytes.length) {
      const bytesRead = await read(file, bytes, length);
      if (bytesRead === 0) return { kind: "moved" };
      length += bytesRead;
    }
    return whole(file, bytes, before, began);
  } catch (error) {
    return failure(error);
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** Why the open file cannot be used, or undefined. */
function refusal(stats: fs.BigIntStats, maxBytes: number): FileBytes | undefined {
  if (!stats.isFile()) return { kind: "refused", reason: "it is not a file", doubtful: false };
  if (stats.size <= BigInt(maxBytes)) return undefined;
  const reason = `it is larger than the limit: ${megabytes(Number(stats.size))} of at most ${megabytes(maxBytes)}`;
  return { kind: "refused", reason, doubtful: false };
}

/**
 * The content, if the file is still the same. `began` is a time before the read: anything written later has a later
 * time.
 */
function whole(file: number, bytes: Uint8Array, before: fs.BigIntStats, began: number): FileBytes {
  if (!sameIdentity(fs.fstatSync(file, { bigint: true }), before)) return { kind: "moved" };
  const doubtful = Math.abs(began - Number(before.mtimeNs / 1_000_000n)) < tickMs;
  return { kind: "read", bytes, identity: contentIdentity(before), doubtful };
}

function failure(error: unknown): FileBytes {
  const code = errnoOf(error);
  if (isAbsence(code)) return { kind: "moved" };
  return { kind: "refused", reason: errnoText(code), doubtful: passing.has(code) };
}

const openFlags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

function open(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.open(path, openFlags, (error, file) => (error === null ? resolve(file) : reject(error)));
  });
}

/** Reads the file's bytes from a position on, to the same position in the buffer. */
function read(file: number, bytes: Uint8Array, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(file, bytes, from, bytes.length - from, from, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

function megabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
