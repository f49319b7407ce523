/**
 * How many values stay however heavy they are, so that there is one for each type that clients ask for as they connect. With fewer, clients of a large
 * configuration would push out each other's clusters and load assignments.
 */
const alwaysKept = 8;

/** Remembers the values that came last, up to a total weight. */
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
      if (this.#weight <= this.#capacity || this.#entries.size <= alwaysKept) return;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
  }
}
