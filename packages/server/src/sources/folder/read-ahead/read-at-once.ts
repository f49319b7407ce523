import { availableParallelism } from "node:os";
import { setImmediate as turn } from "node:timers/promises";
import type { ScannedFile } from "../list-folder.js";
import { type FileRead, FileRoom, planFor, smallFiles } from "./file-batch.js";
import { readAhead } from "./read-ahead.js";

/** How long files are read at once, in milliseconds, before whatever else is to be done has its turn. */
const sliceMs = 20;

/** From so many files on a second thread costs less than it brings … */
const manyFiles = 4_000;
/** … and where so many bytes are still to be read, as those read so far let expect. */
const manyBytes = 16 << 20;
/** So many bytes are read before that is asked. */
const firstBytes = 2 << 20;

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
  let at = 0;
  let began = performance.now();
  for await (const group of inGroups(paths, maxBytes)) {
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

/** A group is to be gone through before the next is asked for. */
async function* inGroups(paths: readonly string[], maxBytes: number): AsyncGenerator<Iterable<FileRead>> {
  if (availableParallelism() > 1 && paths.length >= manyFiles) {
    yield* readAhead(paths, maxBytes, smallFiles);
    return;
  }
  const reading = new Reading(paths, maxBytes);
  yield reading.upTo(firstBytes);
  const left = paths.slice(reading.files);
  const meanBytes = reading.bytes / reading.files;
  if (availableParallelism() > 1 && left.length * meanBytes >= manyBytes)
    yield* readAhead(left, maxBytes, planFor(meanBytes));
  else yield reading.upTo(Number.POSITIVE_INFINITY);
}

/** Reads files one after the other, and counts. */
class Reading {
  readonly #paths: readonly string[];
  readonly #room: FileRoom;
  files = 0;
  bytes = 0;

  constructor(paths: readonly string[], maxBytes: number) {
    this.#paths = paths;
    this.#room = new FileRoom(maxBytes);
  }

  /** Until so many bytes were read in all. */
  *upTo(bytes: number): Generator<FileRead> {
    while (this.files < this.#paths.length && this.bytes < bytes) {
      const read = this.#room.read(this.#paths[this.files] as string);
      this.files += 1;
      if (read.kind === "read") this.bytes += read.bytes.length;
      yield read;
    }
  }
}
