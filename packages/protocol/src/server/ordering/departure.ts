import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { LineagePosition } from "./snapshot-lineage.js";

/**
 * An order's memory after it set out for a snapshot (`Ordering.setOut`). Orders that set out with the same `before`,
 * `last` and `types` share it.
 */
export interface Departure {
  before: readonly Snapshot[] | undefined;
  last: Snapshot | undefined;
  /** The types that the order's streams ask for; undefined for an order of one stream. */
  types: string | undefined;
  after: readonly Snapshot[];
  /** The order's position on its lineage afterwards. */
  position: LineagePosition | undefined;
}

/** The departure of a journey that no order has made yet. It matches no order. */
export function newDeparture(): Departure {
  return { before: undefined, last: undefined, types: undefined, after: [], position: undefined };
}
