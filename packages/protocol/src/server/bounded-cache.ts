/** Remembers the values that were used last, up to a total weight. What was remembered last always stays, however heavy. */
export class BoundedCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  readonly #capacity: number;
  #weight = 0;

  /** `capacity` in whatever unit the weights have. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** The key must not be there yet. */
  set(key: string, value: Value, weight: number): void {
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#capacity || oldest === key) return;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
  }
}
