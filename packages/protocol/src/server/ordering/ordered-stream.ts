import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { Subscriber } from "../state/subscriber.js";

/** One of the streams of an order, as the order sees it. */
export interface OrderedStream {
  readonly subscribers: readonly Subscriber[];
  /** Another stream got an answer or ended. This one may have waited for that, and may have something to send now. */
  mayGoOn(): void;
  /**
   * Another stream joined, ended, or does something that this one may have to wait for. This one stops repeating
   * recorded transitions (`CohortPosition`).
   */
  leaveCohort(): void;
  /**
   * Another stream is about to go to a snapshot that is not this one's target. This one stops repeating, unless it is
   * in sync.
   */
  overtaken(): void;
  /** Whether the stream is in sync at one of the two snapshots, or is on its way from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean;
}
