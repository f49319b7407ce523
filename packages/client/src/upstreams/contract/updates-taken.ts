/** Counts the updates that watchers are still taking. */
export class UpdatesTaken {
  readonly #taken: () => void;
  #count = 0;

  /** `taken` is called each time that one is taken. */
  constructor(taken: () => void) {
    this.#taken = taken;
  }

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Undefined: it is taken already. */
  add(taking: void | Promise<void>): void {
    if (taking === undefined) return;
    this.#count += 1;
    void taking.then(() => {
      this.#count -= 1;
      this.#taken();
    });
  }
}
