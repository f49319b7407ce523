import type { Waits } from "@xdskit/api";

/** When a stream may be tried again (A57), in milliseconds of the client's clock. */
export class AttemptTimes {
  readonly #waits: Waits;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(waits: Waits) {
    this.#waits = waits;
  }

  get notBefore(): number {
    return this.#notBefore;
  }

  begun(at: number): void {
    this.#notBefore = at + this.#waits.next();
  }

  /** The end of an answered stream is no failure: the waits start again. */
  succeeded(startedAt: number): void {
    this.#waits.reset();
    this.begun(startedAt);
  }

  /** The stream was not needed any more: the next attempt that fails is the first. */
  reset(): void {
    this.#waits.reset();
  }
}
