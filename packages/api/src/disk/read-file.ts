import fs from "node:fs";
import { errnoOf, errnoText, identityOf, isAbsence, sameIdentity } from "./metadata.js";

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

/**
 * Reads a whole file of at most so many bytes, and never waits for a pipe's other end.
 *
 * Only what may have to wait for a disk or another machine, opening and reading, goes through the thread pool. What the kernel knows of a file that was just
 * opened is asked at once: that is a fifth of what a turn of the pool costs, and of many small files the turns are most of the cost.
 */
export async function readWholeFile(path: string, maxBytes: number): Promise<FileBytes> {
  const steps = reading(path, maxBytes, inThreadPool, undefined);
  let step = steps.next();
  while (step.done !== true) {
    try {
      step = steps.next(await step.value);
    } catch (error) {
      step = steps.throw(error);
    }
  }
  return step.value;
}

/**
 * The same at once, for a time when nothing else waits, such as a start: a small file costs a sixth, since a turn of the thread pool costs more than the
 * system calls that it makes.
 *
 * @param room where the bytes of a file that fits are put, until the next one comes there: memory for each of many files costs more than to read them
 */
export function readWholeFileAtOnce(path: string, maxBytes: number, room?: Uint8Array): FileBytes {
  const steps = reading(path, maxBytes, atOnce, room);
  let step = steps.next();
  while (step.done !== true) step = steps.next(step.value);
  return step.value;
}

/** The system calls that may have to wait, and answer with a number: the file's, or of bytes. */
interface Calls<Answer> {
  readonly open: (path: string) => Answer;
  /** The file's bytes from there on, to the same place. */
  readonly read: (file: number, bytes: Uint8Array, from: number) => Answer;
}

/** One reading, which goes on with what its calls answer. */
function* reading<Answer>(
  path: string,
  maxBytes: number,
  calls: Calls<Answer>,
  room: Uint8Array | undefined,
): Generator<Answer, FileBytes, number> {
  let file: number | undefined;
  const began = Date.now();
  try {
    file = yield calls.open(path);
    const before = fs.fstatSync(file, { bigint: true });
    const refused = refusal(before, maxBytes);
    if (refused !== undefined) return refused;
    const size = Number(before.size);
    const bytes = room !== undefined && size <= room.length ? room.subarray(0, size) : new Uint8Array(size);
    let length = 0;
    while (length < bytes.length) {
      const bytesRead = yield calls.read(file, bytes, length);
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

/** Why what was opened cannot be taken, if so. */
function refusal(stats: fs.BigIntStats, maxBytes: number): FileBytes | undefined {
  if (!stats.isFile()) return { kind: "refused", reason: "it is not a file", doubtful: false };
  if (stats.size <= BigInt(maxBytes)) return undefined;
  const reason = `it is larger than the limit: ${megabytes(Number(stats.size))} of at most ${megabytes(maxBytes)}`;
  return { kind: "refused", reason, doubtful: false };
}

/** What was read, if it is still what is there. `began` is a time before it was read: what is written later has the time of then. */
function whole(file: number, bytes: Uint8Array, before: fs.BigIntStats, began: number): FileBytes {
  if (!sameIdentity(fs.fstatSync(file, { bigint: true }), before)) return { kind: "moved" };
  const doubtful = Math.abs(began - Number(before.mtimeNs / 1_000_000n)) < tickMs;
  return { kind: "read", bytes, identity: identityOf(before), doubtful };
}

function failure(error: unknown): FileBytes {
  const code = errnoOf(error);
  if (isAbsence(code)) return { kind: "moved" };
  return { kind: "refused", reason: errnoText(code), doubtful: passing.has(code) };
}

const openFlags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);

const atOnce: Calls<number> = {
  open: (path) => fs.openSync(path, openFlags),
  read: (file, bytes, from) => fs.readSync(file, bytes, from, bytes.length - from, from),
};

const inThreadPool: Calls<Promise<number>> = {
  open: (path) =>
    new Promise((resolve, reject) => {
      fs.open(path, openFlags, (error, file) => (error === null ? resolve(file) : reject(error)));
    }),
  read: (file, bytes, from) =>
    new Promise((resolve, reject) => {
      fs.read(file, bytes, from, bytes.length - from, from, (error, count) =>
        error === null ? resolve(count) : reject(error),
      );
    }),
};

function megabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
