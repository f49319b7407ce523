import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { errnoOf, errnoText, identityOf, isAbsence } from "./metadata.js";

/** What came of reading a file. */
export type FileBytes =
  | { readonly kind: "read"; readonly bytes: Uint8Array; readonly identity: string; readonly doubtful: boolean }
  /** The file is as it was found, but cannot be taken: too large, no file at all, forbidden. */
  | { readonly kind: "refused"; readonly reason: string; readonly doubtful: boolean }
  /** It was written to or taken away meanwhile. */
  | { readonly kind: "moved" };

/**
 * Time stamps of files advance in ticks of some milliseconds: a file that was written a moment before it was read can be written
 * again with the same size and the same time. Such a reading is doubtful, and done again at the next look.
 */
const tickMs = 20;

/** What the operating system may refuse now and grant a moment later. */
const passing = new Set(["EIO", "EMFILE", "ENFILE", "EBUSY", "EAGAIN", "ESTALE", "ENOMEM"]);

/** Reads a whole file of at most so many bytes, and never waits for a pipe's other end. */
export async function readWholeFile(path: string, maxBytes: number): Promise<FileBytes> {
  let file: FileHandle | undefined;
  // As of before it is read: what is written later has the time of then.
  const began = Date.now();
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const before = await file.stat({ bigint: true });
    if (!before.isFile()) return { kind: "refused", reason: "it is not a file", doubtful: false };
    if (before.size > BigInt(maxBytes)) {
      const reason = `it is larger than the limit: ${megabytes(Number(before.size))} of at most ${megabytes(maxBytes)}`;
      return { kind: "refused", reason, doubtful: false };
    }
    const bytes = new Uint8Array(Number(before.size));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) return { kind: "moved" };
      length += bytesRead;
    }
    const identity = identityOf(before);
    if (identityOf(await file.stat({ bigint: true })) !== identity) return { kind: "moved" };
    const doubtful = Math.abs(began - Number(before.mtimeNs / 1_000_000n)) < tickMs;
    return { kind: "read", bytes, identity, doubtful };
  } catch (error) {
    const code = errnoOf(error);
    if (isAbsence(code)) return { kind: "moved" };
    return { kind: "refused", reason: errnoText(code), doubtful: passing.has(code) };
  } finally {
    await file?.close();
  }
}

function megabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
