import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { ThreadAnswer, ThreadRequest, ThreadStart, ToRead } from "./thread-messages.js";
import { answerOf, startThread } from "./threads.js";

/** The time for which the thread waits for another text before it ends, in milliseconds. */
const idleMs = 30_000;

/** Takes the batches of one result, in turns of their own. */
type TakeBatch = (batch: ThreadAnswer) => void;

/** Texts that are read one after the other in a thread, which starts when it is needed, and ends after an idle time. */
export class ReadingLane {
  readonly #start: () => ThreadStart;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(start: () => ThreadStart) {
    this.#start = start;
  }

  /**
   * Rejects if the thread ends before: it needed more memory than there is, or more time than `maxMs` since its turn
   * came, or was closed. The next text gets a new thread.
   */
  read(what: ToRead, maxMs: number | undefined, take: TakeBatch): Promise<void> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const read = this.#last.then(() => this.#readNext(what, maxMs, take));
    this.#last = read
      .catch(() => {})
      .finally(() => {
        this.#waiting -= 1;
        if (this.#waiting > 0) return;
        this.#idle = setTimeout(() => this.#end(), idleMs).unref();
      });
    return read;
  }

  /** Ends the thread. A reading in progress fails. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#end();
  }

  async #readNext(what: ToRead, maxMs: number | undefined, take: TakeBatch): Promise<void> {
    if (this.#isClosed) throw new Error("the source was closed");
    const worker = this.#worker ?? this.#startWorker();
    let request: ThreadRequest = what;
    let transferred: readonly ArrayBuffer[] = transferable(what.bytes);
    let isLate = false;
    const late = (): void => {
      isLate = true;
      void worker.terminate();
    };
    const limit = maxMs === undefined ? undefined : setTimeout(late, maxMs).unref();
    // A program that waits for nothing else must not end before its file was read.
    worker.ref();
    try {
      for (;;) {
        worker.postMessage(request, transferred);
        const batch = await answerOf<ThreadAnswer>(worker, "the thread that read it ended");
        take(batch);
        if (batch.end !== undefined) return;
        await turn();
        request = "next";
        transferred = [];
      }
    } catch (error) {
      // The next text gets a new thread.
      if (this.#worker === worker) this.#end();
      throw isLate ? new Error(`it takes more than ${Math.ceil((maxMs ?? 0) / 1000)} s to read`) : error;
    } finally {
      clearTimeout(limit);
      worker.unref();
    }
  }

  #startWorker(): Worker {
    const worker = startThread(import.meta.url, "reading-main", "xdskit-read", this.#start());
    this.#worker = worker;
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

/** The memory of bytes that have it for themselves, such as a body or a file of some length. */
function transferable({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
