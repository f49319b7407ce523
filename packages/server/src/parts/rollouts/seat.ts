import type { ResourceType } from "@xdskit/api";
import type { Node, Rejection, Snapshot } from "@xdskit/protocol";
import type { RolloutAhead } from "../../contracts/nodes/reported-stream.js";
import type { MemberClient, MemberKind, Seat } from "../../contracts/parts/target-policy.js";
import type { GroupTargets } from "./group-targets.js";
import type { Member } from "./members/member.js";

/** The part of a group that its seats need. */
export interface SeatedGroup {
  readonly members: Pick<Set<Member>, "delete">;
  /** Undefined while all members get the newest snapshot. */
  readonly targets: GroupTargets | undefined;
}

/**
 * The place of a stream, or a poll, in its group. It is one object without closures: each push looks into the seats of
 * all streams, which are too many for the processor's cache.
 */
export class RolloutSeat implements Seat, Member {
  readonly #group: SeatedGroup;
  readonly node: Node;
  readonly kind: MemberKind;
  readonly client: MemberClient;
  readonly order: number;

  constructor(group: SeatedGroup, node: Node, kind: MemberKind, client: MemberClient, order: number) {
    this.#group = group;
    this.node = node;
    this.kind = kind;
    this.client = client;
    this.order = order;
  }

  /** The snapshot that the member gets: the newest or another one; undefined: it is being found out. */
  snapshot(newest: Snapshot): Snapshot | undefined {
    const { targets } = this.#group;
    return targets === undefined ? newest : targets.snapshotFor(this, newest);
  }

  /** The rollout under way that has not reached the member; undefined: none. */
  rollout(newest: Snapshot): RolloutAhead | undefined {
    return this.#group.targets?.rolloutAheadOf(this, newest);
  }

  progressed(): void {
    this.#group.targets?.rollout?.progressed(this);
  }

  rejected(type: ResourceType, rejection: Rejection, isWhole: boolean): void {
    this.#group.targets?.rejected(this, type, rejection, isWhole);
  }

  /** The member can be asked for the last time. */
  ends(): void {
    // This comes first, or a rollout that goes on because of it would still count the member.
    this.#group.members.delete(this);
    this.#group.targets?.ends(this);
  }

  leave(): void {
    if (this.#group.members.delete(this)) this.#group.targets?.rollout?.left(this);
  }
}
