/**
 * Works on values one after the other, each time on the latest: one that comes meanwhile takes the place of the one
 * that waits. A value whose work failed is worked on again after some time, unless another one has come.
 */
export class LatestWork<Value> {
  readonly #work: (value: Value) => Promise<void>;
  readonly #failed: (error: unknown) => number;
  #waiting: { readonly value: Value } | undefined;
  #running: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `failed` returns the milliseconds until the work is tried again. It is not called after `close`. */
  constructor(work: (value: Value) => Promise<void>, failed: (error: unknown) => number) {
    this.#work = work;
    this.#failed = failed;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  take(value: Value): void {
    if (this.#isClosed) return;
    clearTimeout(this.#retry);
    this.#waiting = { value };
    this.#running ??= this.#run();
  }

  /** Begins nothing more, and waits for the work under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let next = this.#waiting; next !== undefined && !this.#isClosed; next = this.#waiting) {
      this.#waiting = undefined;
      await this.#tryOnce(next.value);
    }
    // In the same turn as the last look, so that a later value starts a new run.
    this.#running = undefined;
  }

  async #tryOnce(value: Value): Promise<void> {
    try {
      await this.#work(value);
    } catch (error) {
      if (this.#isClosed) return;
      const againMs = this.#failed(error);
      if (this.#waiting === undefined) this.#retry = setTimeout(() => this.take(value), againMs).unref();
    }
  }
}
