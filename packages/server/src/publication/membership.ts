import { emptySnapshot, type PastSnapshots, type Snapshot } from "@xdskit/protocol";
import type { Group } from "../contracts/group.js";
import type { RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { Interest } from "../contracts/parts/supply.js";
import type { Seat } from "../contracts/parts/target-policy.js";
import type { LayerName } from "../settings/group-settings.js";
import type { SharedStack } from "./shared-stacks.js";
import type { ShownPart } from "./shown-part.js";

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

  /** Whether what it tells of is the group's own snapshots, in their lineage. */
  get isOfLineage(): boolean {
    return true;
  }

  /** The newest snapshot of the group's layers: the node's target in the end. */
  newest(): Snapshot | undefined {
    return this.stack.newest();
  }

  /** The snapshots that its client may have had, newest first. */
  past(): PastSnapshots {
    const { stack } = this;
    return [this.newest() ?? emptySnapshot(), ...stack.recent.list(), ...stack.earlier];
  }

  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7). `newest`: what the method of that name gave in this turn.
   */
  snapshot(newest = this.newest()): Snapshot | undefined {
    return newest && this.seat.snapshot(newest);
  }

  /** The rollout under way that has not reached the node; undefined: none. */
  rollout(): RolloutAhead | undefined {
    const newest = this.stack.newest();
    return newest && this.seat.rollout?.(newest);
  }
}

/** `shown`: undefined for a client that is told of all. */
export function memberWith(shown: ShownPart | undefined, ...own: ConstructorParameters<typeof Membership>): Membership {
  return shown === undefined ? new Membership(...own) : new MembershipInPart(shown, ...own);
}

/** The same of a client that is not told of all. A class of its own: all others pay nothing for it. */
class MembershipInPart extends Membership {
  /** What it is told of a snapshot: the same snapshot, if that is all. */
  readonly #shown: ShownPart;

  constructor(shown: ShownPart, ...own: ConstructorParameters<typeof Membership>) {
    super(...own);
    this.#shown = shown;
  }

  /** A group with nothing to leave out has the same snapshots for all. */
  override get isOfLineage(): boolean {
    return this.newest() === this.stack.newest();
  }

  override newest(): Snapshot | undefined {
    const newest = this.stack.newest();
    return newest && this.#shown(newest);
  }

  override past(): PastSnapshots {
    const [first, ...more] = super.past();
    return [first, ...more.map(this.#shown)];
  }

  override snapshot(): Snapshot | undefined {
    const newest = this.stack.newest();
    const target = newest && this.seat.snapshot(newest);
    return target && this.#shown(target);
  }

  override rollout(): RolloutAhead | undefined {
    const ahead = super.rollout();
    return ahead && { ...ahead, snapshot: this.#shown(ahead.snapshot) };
  }
}
