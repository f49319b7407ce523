/**
 * Runs the same work for several callers, once at a time. A run that has begun may miss what a caller that comes now
 * asks about, so those that come meanwhile share the next one.
 */
export class SharedRuns {
  readonly #work: () => Promise<void>;
  #last: Promise<void> = Promise.resolve();
  /** The run that has not begun yet. */
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves, or rejects, as a run does that begins after this call. */
  run(): Promise<void> {
    this.#next ??= this.#last.then(async () => {
      this.#next = undefined;
      const running = this.#work();
      this.#last = running.catch(() => {});
      await running;
    });
    return this.#next;
  }
}
