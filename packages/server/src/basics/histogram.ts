/** How often values were how large. */
export interface HistogramStats {
  /** The upper bounds of the buckets, from the smallest; a value at a bound is in its bucket. */
  readonly bounds: readonly number[];
  /** How many values are in each bucket; the last, one more than the bounds, is of all larger values. */
  readonly counts: readonly number[];
  /** All values together. */
  readonly sum: number;
}

/** Counts values in fixed buckets. To record a value allocates nothing. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds`: the upper bounds of the buckets, from the smallest. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  record(value: number): void {
    let index = 0;
    while (value > (this.#bounds[index] ?? Number.POSITIVE_INFINITY)) index += 1;
    this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
  }

  stats(): HistogramStats {
    return { bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum };
  }
}

/** Milliseconds, from 1 to five minutes. */
export const timeBounds: readonly number[] = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000,
];

/** Bytes, from 256 to 16 MiB, in powers of four. */
export const sizeBounds: readonly number[] = Array.from({ length: 9 }, (_, power) => 256 * 4 ** power);
