/** How measured values spread; in the unit in which they were measured. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Values beyond so many are no more kept, but counted. */
const mostValues = 200_000;

/** Collects values of which only the spread is of interest. */
export class Values {
  readonly #values: number[] = [];
  #count = 0;
  #max = 0;

  add(value: number): void {
    this.#count++;
    this.#max = Math.max(this.#max, value);
    if (this.#values.length < mostValues) this.#values.push(value);
    // As likely as any other to be among those that are kept.
    else if (Math.random() * this.#count < mostValues) this.#values[Math.floor(Math.random() * mostValues)] = value;
  }

  get count(): number {
    return this.#count;
  }

  /** Null where there is none. */
  spread(): Spread | null {
    if (this.#count === 0) return null;
    const sorted = this.#values.toSorted((a, b) => a - b);
    const at = (share: number) => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
    return { count: this.#count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(this.#max) };
  }
}

/** Three digits say enough. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3)) || 0;
}
