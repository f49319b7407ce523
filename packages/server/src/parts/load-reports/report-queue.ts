import { sliceMs } from "@xdskit/api";
import { type SliceClock, systemSliceClock } from "@xdskit/grpc-server";
import { Counts } from "../../basics/counts.js";
import type { ServerLimits } from "../../settings/limits.js";

/** Clusters of one part of a report: to take them over costs some milliseconds at most. */
const partClusters = 250;

interface QueuedReport<Item> {
  readonly stream: object;
  readonly items: readonly Item[];
  readonly take: (part: readonly Item[]) => void;
  from: number;
}

/**
 * Takes over reports in parts, in the order of each stream: a report may be about 100,000 clusters, and other streams
 * must not wait for it. Short reports do not even wait behind it, so that a client which reports much does not get
 * other clients' reports refused.
 */
export class ReportQueue<Item> {
  /** The number of clusters that may wait of one stream: the largest report. All together may have twice that. */
  readonly #limits: Pick<ServerLimits, "reportClusters">;
  readonly #clock: SliceClock;
  readonly #reports: QueuedReport<Item>[] = [];
  /** Clusters that wait, of all and by stream. */
  #waiting = 0;
  readonly #ofStream = new Counts<object>();
  #isClosed = false;

  constructor(limits: Pick<ServerLimits, "reportClusters">, clock: SliceClock = systemSliceClock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * `take` is called for each part; for a short report at once, if no other report of its stream waits. False: too
   * much waits already, and nothing is taken.
   */
  add(stream: object, items: readonly Item[], take: (part: readonly Item[]) => void): boolean {
    const own = this.#ofStream.of(stream);
    if (items.length <= partClusters && own === 0) {
      take(items);
      return true;
    }
    const most = this.#limits.reportClusters;
    if (own + items.length > most || this.#waiting + items.length > 2 * most) return false;
    this.#count(stream, items.length);
    this.#reports.push({ stream, items, take, from: 0 });
    if (this.#reports.length === 1) this.#clock.later(() => this.#slice());
    return true;
  }

  /** Forgets the waiting reports. */
  close(): void {
    this.#isClosed = true;
    this.#reports.length = 0;
  }

  #count(stream: object, items: number): void {
    this.#waiting += items;
    this.#ofStream.add(stream, items);
  }

  #slice(): void {
    const end = this.#clock.now() + sliceMs;
    while (!this.#isClosed) {
      const report = this.#reports[0];
      if (report === undefined) return;
      const part = report.items.slice(report.from, report.from + partClusters);
      report.from += part.length;
      this.#count(report.stream, -part.length);
      report.take(part);
      if (report.from >= report.items.length) this.#reports.shift();
      if (this.#clock.now() >= end) break;
    }
    if (this.#reports.length > 0) this.#clock.later(() => this.#slice());
  }
}
