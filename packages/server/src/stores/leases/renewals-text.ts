import { maxSharedValue } from "../../contracts/stores/shared-keys.js";

/** Leases that were renewed at about the same time: how many milliseconds each has left. */
export type Renewals = ReadonlyMap<string, number>;

/** The renewals that a server reports. */
export interface RenewalsReported {
  /** The number of the first batch that is still there. */
  readonly first: number;
  readonly batches: readonly Renewals[];
}

/** What stands around the batches takes less than this many characters. */
const frame = 100;

/** What others read; older batches are left out where there is no room. */
export function renewalsText({ first, batches }: RenewalsReported): string {
  const texts = batches.map((batch) => JSON.stringify(Object.fromEntries(batch)));
  let length = 0;
  let from = texts.length;
  while (from > 0 && length + (texts[from - 1]?.length ?? 0) < maxSharedValue - frame) {
    from -= 1;
    length += texts[from]?.length ?? 0;
  }
  return `{"first":${first + from},"batches":[${texts.slice(from).join()}]}`;
}

/** Reads what `renewalsText` made. */
export function readRenewals(text: string): RenewalsReported {
  const { first, batches } = JSON.parse(text) as {
    readonly first: number;
    readonly batches: readonly Readonly<Record<string, number>>[];
  };
  return { first, batches: batches.map((batch) => new Map(Object.entries(batch))) };
}
