import { type SliceClock, systemSliceClock } from "../fair-queue.js";

/** Clusters of one part of a report: to take them over costs some milliseconds at most. */
const partClusters = 250;

/** How long reports are taken over at once, in milliseconds, before streams have their turn. */
const sliceMs = 5;

/** How many clusters may wait over all reports: two of the largest. */
export const mostWaiting = 200_000;

interface Waiting<Item> {
  readonly items: readonly Item[];
  readonly take: (part: readonly Item[]) => void;
  from: number;
}

/** Takes over what clients report, in order and in parts: a report may be about 100,000 clusters, and streams do not wait for it. */
export class ReportQueue<Item> {
  readonly #clock: SliceClock;
  readonly #reports: Waiting<Item>[] = [];
  #waiting = 0;
  #isClosed = false;

  constructor(clock: SliceClock = systemSliceClock) {
    this.#clock = clock;
  }

  /** `take` is called for each part; for a short report at once, if none is before it. False: too much waits already, and nothing is taken. */
  add(items: readonly Item[], take: (part: readonly Item[]) => void): boolean {
    if (items.length <= partClusters && this.#reports.length === 0) {
      take(items);
      return true;
    }
    if (this.#waiting + items.length > mostWaiting) return false;
    this.#waiting += items.length;
    this.#reports.push({ items, take, from: 0 });
    if (this.#reports.length === 1) this.#clock.later(() => this.#slice());
    return true;
  }

  /** What waits is forgotten. */
  close(): void {
    this.#isClosed = true;
    this.#reports.length = 0;
  }

  #slice(): void {
    const end = this.#clock.now() + sliceMs;
    while (!this.#isClosed) {
      const report = this.#reports[0];
      if (report === undefined) return;
      const part = report.items.slice(report.from, report.from + partClusters);
      report.from += part.length;
      this.#waiting -= part.length;
      report.take(part);
      if (report.from >= report.items.length) this.#reports.shift();
      if (this.#clock.now() >= end) break;
    }
    if (this.#reports.length > 0) this.#clock.later(() => this.#slice());
  }
}
