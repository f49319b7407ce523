import type { Snapshot } from "../../model/snapshot.js";
import type { Subscriber } from "../state/subscriber.js";

/** One of the streams of an order, as the order sees it. */
export interface OrderedStream {
  readonly subscribers: readonly Subscriber[];
  /**
   * Something that this stream waits for on another one may be over, since that was answered or left: there may be
   * something to send.
   */
  progressed(): void;
  /**
   * Another stream came, went, or does what this one may have to wait for: this one stops repeating what others did
   * (`Membership`).
   */
  leaveCohort(): void;
  /**
   * Another stream is about to go to a snapshot that this one is not on its way to: unless this one rests, it stops
   * repeating, too.
   */
  overtaken(): void;
  /** Whether the stream rests at one of the two snapshots, or is on its way from the first to the second. */
  isBetween(from: Snapshot, to: Snapshot): boolean;
}
