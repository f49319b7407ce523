import type { Snapshot } from "@xdskit/protocol";
import type { Group } from "../contracts/group.js";
import type { RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { Interest } from "../contracts/parts/supply.js";
import type { Seat } from "../contracts/parts/target-policy.js";
import type { LayerName } from "../settings/group-settings.js";
import type { SharedStack } from "./shared-stacks.js";

/** The membership of a stream, or a poll, in the group of its node, with its target snapshot. */
export class Membership {
  readonly #group: Group;
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

  constructor(group: Group, stack: SharedStack, seat: Seat, interest: Interest | undefined, leave: () => void) {
    this.#group = group;
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

  /** The newest snapshot of the group's layers: the node's target in the end. */
  newest(): Snapshot | undefined {
    return this.stack.newest();
  }

  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7).
   */
  snapshot(newest = this.newest()): Snapshot | undefined {
    return newest && this.seat.snapshot(newest);
  }

  /** The rollout under way that has not reached the node; undefined: none. */
  rollout(): RolloutAhead | undefined {
    const newest = this.newest();
    return newest && this.seat.rollout?.(newest);
  }
}
