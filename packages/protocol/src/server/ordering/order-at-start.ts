import type { Snapshot } from "../../model/snapshots/snapshot.js";
import type { LineagePosition } from "./snapshot-lineage.js";

/**
 * An order's memory after it began to go to a snapshot (`ClientTarget.begin`). Orders that began with the same
 * `before`, `last` and `types` share it.
 */
export interface OrderAtStart {
  before: readonly Snapshot[] | undefined;
  last: Snapshot | undefined;
  /** The types that the order's streams ask for; undefined for an order of one stream. */
  types: string | undefined;
  after: readonly Snapshot[];
  /** The order's position on its lineage afterwards. */
  position: LineagePosition | undefined;
}

/** Of an update that no order has begun yet. It matches no order. */
export function newOrderAtStart(): OrderAtStart {
  return { before: undefined, last: undefined, types: undefined, after: [], position: undefined };
}
