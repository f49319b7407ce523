/** The spread of measured values, in their unit. */
export interface FigureSpread {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Further values are counted, but not all are kept. */
const maxValues = 200_000;

/** Collects values to compute their spread. */
export class Values {
  #values: number[] = [];
  #count = 0;
  #max = 0;

  copy(): Values {
    const copy = new Values();
    copy.#values = [...this.#values];
    copy.#count = this.#count;
    copy.#max = this.#max;
    return copy;
  }

  add(value: number): void {
    this.#count++;
    this.#max = Math.max(this.#max, value);
    if (this.#values.length < maxValues) this.#values.push(value);
    // Every value has the same chance to be kept.
    else if (Math.random() * this.#count < maxValues) this.#values[Math.floor(Math.random() * maxValues)] = value;
  }

  get count(): number {
    return this.#count;
  }

  /** Null without values. */
  spread(): FigureSpread | null {
    if (this.#count === 0) return null;
    const sorted = this.#values.toSorted((a, b) => a - b);
    const at = (share: number) => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
    return { count: this.#count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(this.#max) };
  }
}

/** Three digits are enough. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3)) || 0;
}
