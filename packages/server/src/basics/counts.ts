/** Counts by key. A key whose count is 0 takes no room. */
export class Counts<Key> {
  readonly #counts = new Map<Key, number>();

  /** The number of keys whose count is not 0. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Returns the new count. */
  add(key: Key, by: number): number {
    const count = this.of(key) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    return count;
  }
}
