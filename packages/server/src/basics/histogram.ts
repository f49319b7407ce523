/** How often values were how large. */
export interface HistogramStats {
  /** The upper bounds of the buckets, from the smallest; a value at a bound is in its bucket. */
  readonly bounds: readonly number[];
  /** How many values are in each bucket; the last, one more than the bounds, is of all larger values. */
  readonly counts: readonly number[];
  /** All values together. */
  readonly sum: number;
}

/** The buckets of a histogram. */
interface Buckets {
  readonly bounds: readonly number[];
  /** The index of the bucket of a value, without a search: it is called for each push. */
  readonly placeOf: (value: number) => number;
}

/** Counts values in fixed buckets. To record a value allocates nothing. */
export class Histogram {
  readonly #buckets: Buckets;
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(buckets: Buckets) {
    this.#buckets = buckets;
    this.#counts = new Float64Array(buckets.bounds.length + 1);
  }

  record(value: number): void {
    const place = this.#buckets.placeOf(value);
    this.#counts[place] = (this.#counts[place] as number) + 1;
    this.#sum += value;
  }

  stats(): HistogramStats {
    return { bounds: this.#buckets.bounds, counts: [...this.#counts], sum: this.#sum };
  }
}

/** Up to this many milliseconds each has its own place in a table, */
const fineMs = 500;
const timeBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000];
const fine = placesOf(fineMs, 1);
/** and above it each half second: all larger bounds are multiples of that. */
const coarse = placesOf(300_000 / fineMs + 1, fineMs);

/** Milliseconds, from 1 to five minutes. */
export const timeBuckets: Buckets = {
  bounds: timeBounds,
  placeOf(ms) {
    if (ms <= fineMs) return fine[Math.max(0, Math.ceil(ms))] as number;
    return coarse[Math.min(Math.ceil(ms / fineMs), coarse.length - 1)] as number;
  },
};

function placesOf(length: number, unit: number): Uint8Array {
  return Uint8Array.from({ length: length + 1 }, (_, index) => {
    const place = timeBounds.findIndex((bound) => index * unit <= bound);
    return place < 0 ? timeBounds.length : place;
  });
}

/** Bytes, from 256 to 16 MiB, in powers of four. */
export const sizeBuckets: Buckets = {
  bounds: Array.from({ length: 9 }, (_, power) => 256 * 4 ** power),
  placeOf(bytes) {
    if (bytes <= 256) return 0;
    if (bytes > 16_777_216) return 9;
    const bits = 32 - Math.clz32(bytes - 1);
    return (bits - 7) >> 1;
  },
};
