import type { Snapshot } from "../../model/snapshot.js";
import type { LineagePosition } from "./snapshot-lineage.js";

/**
 * What setting out for a snapshot does to what an order remembers (`Ordering.setOut`), for the orders that set out with
 * the same `before`, `last` and `types`.
 */
export interface Departure {
  before: readonly Snapshot[] | undefined;
  last: Snapshot | undefined;
  /** The types that the order's streams ask for; undefined for an order of one stream. */
  types: string | undefined;
  after: readonly Snapshot[];
  /** On the line, afterwards. */
  position: LineagePosition | undefined;
}

/** Of a way that no order has gone yet: it equals that of none. */
export function newDeparture(): Departure {
  return { before: undefined, last: undefined, types: undefined, after: [], position: undefined };
}
