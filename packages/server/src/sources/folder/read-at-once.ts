import { hash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { type FileBytes, readWholeFileAtOnce } from "@xdskit/api/disk";
import type { ScannedFile } from "./list-folder.js";

/** The result of reading a file, with a hash of its bytes if there are any. */
export type FileRead =
  | (Extract<FileBytes, { readonly kind: "read" }> & { readonly digest: string })
  | Exclude<FileBytes, { readonly kind: "read" }>;

/** How long files are read without a break, in milliseconds, before other work gets its turn. */
const sliceMs = 20;

/** Files up to this size are read into the same memory, one after the other. */
const roomForFiles = 1 << 20;

/**
 * Reads files in their order with blocking calls, which is three times as fast for small files. Use it at a start, when
 * little else waits. The bytes passed to `take` are valid only until it returns.
 */
export async function readAtOnce(
  files: readonly ScannedFile[],
  maxBytes: number,
  signal: AbortSignal,
  take: (file: ScannedFile, read: FileRead) => void,
): Promise<void> {
  const room = new Uint8Array(roomForFiles);
  let began = performance.now();
  for (const file of files) {
    if (signal.aborted) return;
    take(file, withDigest(readWholeFileAtOnce(file.realPath, maxBytes, room)));
    if (performance.now() - began < sliceMs) continue;
    await turn();
    began = performance.now();
  }
}

/** Adds the hash of the bytes. */
export function withDigest(read: FileBytes): FileRead {
  return read.kind === "read" ? { ...read, digest: hash("sha256", read.bytes, "base64") } : read;
}
