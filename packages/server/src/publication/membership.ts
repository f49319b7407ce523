import { emptySnapshot, type PastSnapshots, type Snapshot } from "@xdskit/protocol";
import type { Group } from "../contracts/group.js";
import type { RolloutAhead } from "../contracts/nodes/reported-stream.js";
import type { Interest } from "../contracts/parts/supply.js";
import type { Seat } from "../contracts/parts/target-policy.js";
import type { LayerName } from "../settings/group-settings.js";
import type { SharedStack } from "./shared-stacks.js";
import { withoutSecrets } from "./without-secrets.js";

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
  /** Whether its client is told of secrets. */
  readonly getsSecrets: boolean;

  constructor(
    group: Group,
    stack: SharedStack,
    seat: Seat,
    interest: Interest | undefined,
    getsSecrets: boolean,
    leave: () => void,
  ) {
    this.getsSecrets = getsSecrets;
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
    const newest = this.stack.newest();
    return newest === undefined || this.getsSecrets ? newest : withoutSecrets(newest);
  }

  /** The snapshots that its client may have had, newest first. */
  past(): PastSnapshots {
    const { stack } = this;
    const before = [...stack.recent.list(), ...stack.earlier].map((snapshot) => this.#told(snapshot));
    return [this.newest() ?? emptySnapshot(), ...before];
  }

  /** What of a snapshot its client may be told. */
  #told(snapshot: Snapshot): Snapshot {
    return this.getsSecrets ? snapshot : withoutSecrets(snapshot);
  }

  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7). `known`: what `newest` gave in this turn.
   */
  snapshot(known?: Snapshot): Snapshot | undefined {
    // Each stream asks at each change: nothing is asked or called twice.
    if (this.getsSecrets && known !== undefined) return this.seat.snapshot(known);
    const newest = this.stack.newest();
    return newest && this.#told(this.seat.snapshot(newest));
  }

  /** The rollout under way that has not reached the node; undefined: none. */
  rollout(): RolloutAhead | undefined {
    const newest = this.stack.newest();
    const ahead = newest && this.seat.rollout?.(newest);
    return ahead && { ...ahead, snapshot: this.#told(ahead.snapshot) };
  }
}
