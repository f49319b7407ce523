import type { ResourceName, ResourceType } from "@xdskit/api";
import { notePublished, type Snapshot, SnapshotLineage } from "@xdskit/protocol";
import type { NameDecision } from "../contracts/parts/supply.js";
import type { MemberClient } from "../contracts/parts/target-policy.js";

/** A client that is told when its group has a new snapshot. */
export interface GroupClient extends MemberClient {
  /** A requested name that may be supplied was decided. For a found resource `targetChanged` is called too. */
  nameDecided?(type: ResourceType, name: ResourceName, outcome: NameDecision): void;
}

/** The clients of a stack that are told the same of its snapshots: all, or a part. */
export class StackPart {
  /** What they are told of a snapshot. The same snapshot gives the same part, and all of it is the snapshot itself. */
  readonly of: (snapshot: Snapshot) => Snapshot;
  /** Their snapshots, one after the other. Streams in sync follow them. */
  readonly lineage = new SnapshotLineage();
  readonly clients = new Set<GroupClient>();

  constructor(of: (snapshot: Snapshot) => Snapshot) {
    this.of = of;
  }

  /** `after` is the newest snapshot of the stack; `isPlain`: the target of all. `at`: milliseconds. */
  goOn(before: Snapshot | undefined, after: Snapshot, isPlain: boolean, at: number): void {
    const newest = this.of(after);
    if (before !== undefined && newest !== after) notePublished(this.of(before), newest, at);
    this.lineage.goOn(newest, isPlain);
  }

  /** `newest`: the target of all, of the stack. */
  tell(newest: Snapshot | undefined): void {
    const own = newest && this.of(newest);
    for (const each of this.clients) each.targetChanged(own);
  }
}
