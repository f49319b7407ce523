import type { Node, RequestLoad } from "@xdskit/protocol";

/**
 * All reports about one locality of a cluster since the start, summed over nodes. All numbers are counters, except
 * `inProgress`.
 */
export interface LocalityTotals extends RequestLoad {
  /** `(other)` sums up all clusters that the server does not know. */
  readonly cluster: string;
  /** `(other)` in each part: all localities of a cluster beyond the first 200. */
  readonly locality: Node["locality"];
}

/** Requests that clients dropped on purpose since the start, by cluster and category. */
export interface DropTotals {
  readonly cluster: string;
  /**
   * `(none)`: requests dropped for no named category, such as by circuit breaking. `(other)`: all beyond the first 50.
   */
  readonly category: string;
  readonly count: number;
}

/** Numbers about load reporting, summed over nodes. Their rows are bounded, whatever clients send. */
export interface LoadTotals {
  /** By version of the API: open streams, and messages with a report since the start. */
  readonly streams: readonly { readonly api: "v2" | "v3"; readonly open: number; readonly reports: number }[];
  /** Nodes with a kept report. */
  readonly nodes: number;
  readonly localities: readonly LocalityTotals[];
  readonly drops: readonly DropTotals[];
}
