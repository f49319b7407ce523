import { availableParallelism } from "node:os";
import { setImmediate as turn } from "node:timers/promises";
import type { ScannedFile } from "../list-folder.js";
import { type FileRead, FileRoom } from "./file-batch.js";
import { readAhead } from "./read-ahead.js";

/** How long files are read at once, in milliseconds, before whatever else is to be done has its turn. */
const sliceMs = 20;

/** From so many files on a second thread costs less than it brings. */
const manyFiles = 4_000;

/**
 * Reads files in their order, for a time when little else waits, such as a start: a disk that is slow may hold up the thread. What is read is only good until the
 * call returns that takes it.
 */
export async function readAtOnce(
  files: readonly ScannedFile[],
  maxBytes: number,
  signal: AbortSignal,
  take: (file: ScannedFile, read: FileRead) => void,
): Promise<void> {
  const paths = files.map(({ realPath }) => realPath);
  const isMany = paths.length >= manyFiles && availableParallelism() > 1;
  const groups = isMany ? readAhead(paths, maxBytes) : [oneByOne(paths, maxBytes)];
  let at = 0;
  let began = performance.now();
  for await (const group of groups) {
    for (const read of group) {
      if (signal.aborted) return;
      take(files[at] as ScannedFile, read);
      at += 1;
      if (performance.now() - began < sliceMs) continue;
      await turn();
      began = performance.now();
    }
  }
}

function* oneByOne(paths: readonly string[], maxBytes: number): Generator<FileRead> {
  const room = new FileRoom(maxBytes);
  for (const path of paths) yield room.read(path);
}
