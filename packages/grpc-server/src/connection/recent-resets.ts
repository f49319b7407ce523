const maxResets = 1_000;

/** The last thousand streams that we reset: their frames may still arrive. */
export class RecentResets {
  /** Undefined before the first: most connections reset none. */
  #streams: Set<number> | undefined;

  add(stream: number): void {
    this.#streams ??= new Set();
    this.#streams.add(stream);
    if (this.#streams.size <= maxResets) return;
    for (const oldest of this.#streams) {
      this.#streams.delete(oldest);
      return;
    }
  }

  has(stream: number): boolean {
    return this.#streams?.has(stream) === true;
  }
}
