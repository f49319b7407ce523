import { emptySnapshot, type PastSnapshots, type Snapshot, type SnapshotLineage } from "@xdskit/protocol";
import type { Group } from "../contracts/group.js";
import type { RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { Interest } from "../contracts/parts/supply.js";
import type { Seat } from "../contracts/parts/target-policy.js";
import type { LayerName } from "../settings/group-settings.js";
import type { SharedStack } from "./shared-stacks.js";
import type { StackPart } from "./stack-part.js";

/** Where a member is. */
interface MemberPlace extends Pick<Membership, "stack" | "seat" | "interest"> {
  readonly group: Group;
  /** What it is told of the stack. */
  readonly part: StackPart;
}

/** The membership of a stream, or a poll, in the group of its node, with its target snapshot. */
export class Membership {
  readonly #group: Group;
  readonly #part: StackPart;
  /** What its group shares with others that have the same layers. */
  readonly stack: SharedStack;
  /** What it reports to its group. */
  readonly seat: Seat;
  /**
   * The names that the stream asks for, of types supplied on demand; the client is told the decisions. Undefined
   * without such types.
   */
  readonly interest: Interest | undefined;
  readonly leave: () => void;

  constructor({ group, stack, part, seat, interest }: MemberPlace, leave: () => void) {
    this.#group = group;
    this.#part = part;
    this.stack = stack;
    this.seat = seat;
    this.interest = interest;
    this.leave = leave;
  }

  /** Unique among groups. */
  get key(): string {
    return this.#group.key;
  }

  get group(): string {
    return this.#group.name;
  }

  /** The layers of the group; undefined means all layers. */
  get layers(): readonly LayerName[] | undefined {
    return this.#group.layers;
  }

  /** The snapshots that `newest` gives, one after the other. */
  get lineage(): SnapshotLineage {
    return this.#part.lineage;
  }

  /** The newest snapshot of the group's layers, or the node's part of it: its target in the end. */
  newest(): Snapshot | undefined {
    const newest = this.stack.newest();
    return newest && this.#part.of(newest);
  }

  /** The snapshots that its client may have had, newest first. */
  past(): PastSnapshots {
    const { recent, earlier } = this.stack;
    return [this.newest() ?? emptySnapshot(), ...[...recent.list(), ...earlier].map(this.#part.of)];
  }

  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7).
   */
  snapshot(): Snapshot | undefined {
    const newest = this.stack.newest();
    const target = newest && this.seat.snapshot(newest);
    return target && this.#part.of(target);
  }

  /** The rollout under way that has not reached the node; undefined: none. */
  rollout(): RolloutAhead | undefined {
    const newest = this.stack.newest();
    const ahead = newest && this.seat.rollout?.(newest);
    if (ahead === undefined) return undefined;
    const snapshot = this.#part.of(ahead.snapshot);
    return snapshot === ahead.snapshot ? ahead : { ...ahead, snapshot };
  }

  /** Why the node does not get the newest snapshot, as a policy says it. */
  whyHeldBack(): string | undefined {
    const newest = this.stack.newest();
    return newest && this.seat.why?.(newest);
  }
}
