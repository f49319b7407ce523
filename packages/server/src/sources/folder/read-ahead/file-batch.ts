import { hash } from "node:crypto";
import { type FileBytes, readWholeFileAtOnce } from "@xdskit/api/disk";

/** How many files are read, and passed from thread to thread, together. */
export const batchFiles = 64;

/** Files up to this size are read into the same memory. */
const roomForFiles = 1 << 20;

/** What came of reading a file, with a hash of its bytes where there are any. */
export type FileRead =
  | (Extract<FileBytes, { readonly kind: "read" }> & { readonly digest: string })
  | Exclude<FileBytes, { readonly kind: "read" }>;

/** What came of reading some files, in columns: as objects they would cost more on the way to another thread than to read them. */
export interface FileBatch {
  readonly number: number;
  /** Of all files one behind the other, and where those of each end. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: readonly number[];
  readonly identities: readonly string[];
  readonly digests: readonly string[];
  /** Places of the files that are to be read again soon. */
  readonly doubtful: readonly number[];
  /** Files with bytes of their own, since they are large, or without any. */
  readonly others: readonly (readonly [place: number, read: FileRead])[];
}

/** Reads files one after the other, each into the memory of the one before where it fits: what is made of a file's bytes is copied. */
export class FileRoom {
  readonly #room = new Uint8Array(roomForFiles);
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  read(path: string): FileRead {
    return readInto(this.#room, path, this.#maxBytes);
  }

  /** @param paths of all files, of which the batch has its part */
  readBatch(paths: readonly string[], number: number): FileBatch {
    const ends: number[] = [];
    const identities: string[] = [];
    const digests: string[] = [];
    const doubtful: number[] = [];
    const others: (readonly [number, FileRead])[] = [];
    let end = 0;
    for (const [place, path] of pathsOf(paths, number).entries()) {
      const room = this.#room.subarray(end);
      const read = readInto(room, path, this.#maxBytes);
      const isHere = read.kind === "read" && read.bytes.buffer === room.buffer;
      if (isHere) end += read.bytes.length;
      else others.push([place, read]);
      ends.push(end);
      identities.push(isHere ? read.identity : "");
      digests.push(isHere ? read.digest : "");
      if (isHere && read.doubtful) doubtful.push(place);
    }
    return { number, bytes: this.#room.slice(0, end), ends, identities, digests, doubtful, others };
  }
}

/** How many batches so many files are. */
export function batchesOf(files: number): number {
  return Math.ceil(files / batchFiles);
}

/** The memory of a batch that may go over to another thread. */
export function memoryOf({ bytes, others }: FileBatch): ArrayBuffer[] {
  const large = others.flatMap(([, read]) => (read.kind === "read" ? [read.bytes.buffer as ArrayBuffer] : []));
  return [bytes.buffer, ...large];
}

/** The files of a batch, in the order of their paths. */
export function* filesOf(batch: FileBatch): Generator<FileRead> {
  const { bytes, ends, identities, digests, others } = batch;
  const doubtful = new Set(batch.doubtful);
  const elsewhere = new Map(others);
  let start = 0;
  for (const [place, end] of ends.entries()) {
    const read = elsewhere.get(place);
    yield read ?? {
      kind: "read",
      bytes: bytes.subarray(start, end),
      identity: identities[place] as string,
      digest: digests[place] as string,
      doubtful: doubtful.has(place),
    };
    start = end;
  }
}

function pathsOf(paths: readonly string[], number: number): readonly string[] {
  return paths.slice(number * batchFiles, (number + 1) * batchFiles);
}

function readInto(room: Uint8Array, path: string, maxBytes: number): FileRead {
  const read = readWholeFileAtOnce(path, maxBytes, room);
  return read.kind === "read" ? withDigest(read) : read;
}

/** The same, with the hash of its bytes. */
export function withDigest(read: FileBytes): FileRead {
  return read.kind === "read" ? { ...read, digest: hash("sha256", read.bytes, "base64") } : read;
}
