import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "../../model/snapshot.js";
import { numberOf, shortenSnapshot } from "./past-snapshots.js";
import { LineagePosition, type SnapshotLineage } from "./snapshot-lineage.js";

/**
 * Where orders stand whose clients are to have the same and were to have the same before, as far as they ask for it:
 * these go along with the line together.
 */
export class OrderPosition extends LineagePosition {
  readonly #earlier: readonly Snapshot[];

  constructor(snapshot: Snapshot, types: readonly ResourceType[], earlier: readonly Snapshot[]) {
    super(snapshot, types);
    this.#earlier = earlier;
  }

  override goOn(to: Snapshot): void {
    super.goOn(to);
    // Earlier snapshots that orders remember must not keep those in between alive.
    for (const snapshot of this.#earlier) shortenSnapshot(snapshot, to);
  }
}

/**
 * The position of orders whose streams ask for these types; undefined where `snapshot` is no longer the newest of the
 * line.
 */
export function orderPosition(
  line: SnapshotLineage,
  snapshot: Snapshot,
  types: readonly ResourceType[],
  earlier: readonly Snapshot[],
): OrderPosition | undefined {
  const numbers = types.map(numberOf).sort().join();
  const key = `order ${numbers}/${numberOf(earlier)}`;
  return line.position(snapshot, key, () => new OrderPosition(snapshot, types, earlier));
}

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
  position: OrderPosition | undefined;
}

/** Of a way that no order has gone yet: it equals that of none. */
export function newDeparture(): Departure {
  return { before: undefined, last: undefined, types: undefined, after: [], position: undefined };
}
