import { maxKept, XdskitError } from "@xdskit/api";

/** Runs tasks one after the other, in the order in which they came. */
export class Queue {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Settles as the task does. Rejects with XDSKIT_BUSY if too many wait, and XDSKIT_SERVER_CLOSED after `close`. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw XdskitError.of("XDSKIT_SERVER_CLOSED", "the server is closed");
    if (this.#waiting >= maxKept) throw XdskitError.of("XDSKIT_BUSY", `${maxKept} changes wait already`);
    this.#waiting += 1;
    const done = this.#last.then(task).finally(() => {
      this.#waiting -= 1;
    });
    this.#last = done.catch(() => {});
    return await done;
  }

  /** Takes no further tasks, and waits for those that came before. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }
}
