import type { ResourceType } from "@xdskit/api";
import type { Snapshot } from "../snapshot.js";
import { numberOf, shortenSnapshot } from "./past-snapshots.js";
import { type SnapshotLine, Standpoint } from "./snapshot-line.js";

/** What clients were to have last of what they ask for, and what before that: orders that say the same go along with the line together. */
export class OrderStandpoint extends Standpoint {
  readonly #earlier: readonly Snapshot[];

  constructor(snapshot: Snapshot, types: readonly ResourceType[], earlier: readonly Snapshot[]) {
    super(snapshot, types);
    this.#earlier = earlier;
  }

  override goOn(to: Snapshot): void {
    super.goOn(to);
    // What is remembered of those before must not keep all that there was in between.
    for (const snapshot of this.#earlier) shortenSnapshot(snapshot, to);
  }
}

/** Where orders stand that compare these types; undefined where the line has gone on. */
export function orderStandpoint(
  line: SnapshotLine,
  snapshot: Snapshot,
  types: readonly ResourceType[],
  earlier: readonly Snapshot[],
): OrderStandpoint | undefined {
  const numbers = types.map(numberOf).sort().join();
  const key = `order ${numbers}/${numberOf(earlier)}`;
  return line.standpoint(snapshot, key, () => new OrderStandpoint(snapshot, types, earlier));
}
