import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { threadProgram } from "../../../thread-program.js";
import { batchesOf, type FileBatch, type FileRead, FileRoom, filesOf } from "./file-batch.js";

/** What the second thread gets. */
export interface ReadAheadStart {
  /** Of all files, with a NUL between them, which no path has: one string is passed on sooner than many. */
  readonly paths: string;
  readonly maxBytes: number;
  /** The numbers at `unclaimedAt` and `takenAt`. */
  readonly shared: SharedArrayBuffer;
  readonly port: MessagePort;
}

/** Where the number of the first batch is that nobody reads or has read … */
export const unclaimedAt = 0;
/** … and of the first that was not taken. */
export const takenAt = 1;

/** How many batches the second thread may be ahead of what was taken: some MB of small files. */
export const ahead = 128;

/** How many batches this thread reads before their turn while the second one is at the one whose turn it is. */
const ownAhead = 8;

const readProgram = threadProgram(import.meta.url, "read-ahead-main");

/**
 * Reads many files in batches, and has a second thread read some of them: opening, reading and closing a small file costs twice as much as understanding it. They come
 * in their order. Each is read by who comes to it first, so that nothing waits for the thread to start, and if it ends by itself nothing is lost.
 */
export async function* readAhead(paths: readonly string[], maxBytes: number): AsyncGenerator<Iterable<FileRead>> {
  const batches = new Batches(paths, maxBytes);
  try {
    for (let number = 0; number < batches.count; number += 1) yield await batches.take(number);
  } finally {
    await batches.close();
  }
}

/** Files in batches, read by this thread and another one. `program` is JavaScript, or where a module with it is. */
export class Batches {
  readonly count: number;
  readonly #paths: readonly string[];
  readonly #room: FileRoom;
  readonly #counts: Int32Array<SharedArrayBuffer>;
  readonly #port: MessagePort;
  readonly #worker: Worker | undefined;
  /** Resolves when the other thread is at its end. */
  readonly ended: Promise<void>;
  /** What was read before its turn. */
  readonly #waiting = new Map<number, FileBatch>();
  #isAlone = false;

  constructor(paths: readonly string[], maxBytes: number, program: string | URL = readProgram) {
    const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    const { port1, port2 } = new MessageChannel();
    const workerData: ReadAheadStart = { paths: paths.join("\0"), maxBytes, shared, port: port2 };
    this.count = batchesOf(paths.length);
    this.#paths = paths;
    this.#room = new FileRoom(maxBytes);
    this.#counts = new Int32Array(shared);
    this.#port = port1;
    let ended = (): void => {};
    this.ended = new Promise((resolve) => {
      ended = () => {
        this.#isAlone = true;
        resolve();
      };
    });
    this.#worker = startThread(program, workerData);
    // Why it ended does not matter: what it had in hand is read here.
    this.#worker?.on("error", () => {});
    if (this.#worker === undefined) ended();
    else this.#worker.once("exit", ended);
  }

  /** How many batches were begun by either thread. */
  get begun(): number {
    return Math.min(Atomics.load(this.#counts, unclaimedAt), this.count);
  }

  /** The batches have to be taken in their order. */
  async take(number: number): Promise<Iterable<FileRead>> {
    const batch = this.#found(number) ?? this.#readUntil(number) ?? (await this.#awaited(number));
    this.#waiting.delete(number);
    Atomics.store(this.#counts, takenAt, number + 1);
    Atomics.notify(this.#counts, takenAt);
    return filesOf(batch);
  }

  async close(): Promise<void> {
    this.#port.close();
    await this.#worker?.terminate();
  }

  #found(number: number): FileBatch | undefined {
    if (!this.#waiting.has(number)) {
      for (;;) {
        const next = receiveMessageOnPort(this.#port);
        if (next === undefined) break;
        this.#keep(next.message as FileBatch);
      }
    }
    return this.#waiting.get(number);
  }

  /** Reads what nobody reads yet: this batch, or some that follow while the other thread is at it. */
  #readUntil(number: number): FileBatch | undefined {
    for (let own = 0; own < ownAhead && !this.#isAlone; own += 1) {
      const next = Atomics.add(this.#counts, unclaimedAt, 1);
      if (next >= this.count) break;
      this.#keep(this.#room.readBatch(this.#paths, next));
      const found = this.#found(number);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #awaited(number: number): Promise<FileBatch> {
    while (!this.#isAlone) {
      const heard = new Promise<void>((resolve) => {
        this.#port.once("message", (batch: FileBatch) => {
          this.#keep(batch);
          resolve();
        });
      });
      await Promise.race([heard, this.ended]);
      const found = this.#found(number);
      if (found !== undefined) return found;
    }
    return this.#found(number) ?? this.#room.readBatch(this.#paths, number);
  }

  #keep(batch: FileBatch): void {
    this.#waiting.set(batch.number, batch);
  }
}

/** Undefined where threads are not to be had. */
function startThread(program: string | URL, workerData: ReadAheadStart): Worker | undefined {
  const isSource = typeof program === "string";
  // What users have their programs load first is nothing to this one.
  const execArgv = isSource ? undefined : [];
  try {
    return new Worker(program, {
      workerData,
      transferList: [workerData.port],
      name: "xdskit-read",
      execArgv,
      eval: isSource,
    });
  } catch {
    return undefined;
  }
}
