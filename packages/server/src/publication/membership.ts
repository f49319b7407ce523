import type { Snapshot, SnapshotLineage, UnknownTypes } from "@xdskit/protocol";
import type { Group } from "../configuration/groups.js";
import type { Interest } from "../on-demand/interest.js";
import type { Seat } from "../rollouts/views.js";
import type { LayerName } from "../settings/group-settings.js";
import type { SharedStack } from "./shared-stacks.js";

/**
 * The membership of a stream, or a poll, in the group of its node: its target snapshot, and its reports to the group.
 */
export class Membership {
  readonly #group: Group;
  readonly #stack: SharedStack;
  readonly #seat: Seat;
  readonly #left: () => void;
  /**
   * The names that the stream asks for, of types supplied on demand; the client is told the decisions. Undefined
   * without such types.
   */
  readonly interest: Interest | undefined;

  constructor(group: Group, stack: SharedStack, seat: Seat, interest: Interest | undefined, left: () => void) {
    this.#group = group;
    this.#stack = stack;
    this.#seat = seat;
    this.interest = interest;
    this.#left = left;
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

  /** The lineage of the newest snapshots of the group's layers. Resting streams follow it. */
  get lineage(): SnapshotLineage {
    return this.#stack.lineage;
  }

  /** The newest snapshot of the group's layers: the node's target in the end. */
  newest(): Snapshot | undefined {
    return this.#stack.newest();
  }

  /** The snapshots that the client may have from before a restart, newest first. */
  get earlier(): readonly Snapshot[] {
    return this.#stack.earlier;
  }

  /** The snapshots that the client may have from another server, newest first. */
  get recent(): readonly Snapshot[] {
    return this.#stack.recent.list();
  }

  /**
   * The node's target now: the newest snapshot, or, during a rollout or after a rejection, a view of it. Undefined
   * while nothing is known yet (rule 7).
   */
  snapshot(): Snapshot | undefined {
    const newest = this.newest();
    return newest && this.#seat.snapshot(newest);
  }

  /** Whether the node's target is not decided yet. */
  get isAwaited(): boolean {
    return this.#seat.isAwaited === true;
  }

  /** Types whose content is not known yet. */
  unknown(): UnknownTypes {
    return this.#stack.unknown();
  }

  /** The client may use something else now: it acknowledged a response, or needed none. */
  progressed(): void {
    this.#seat.progressed();
  }

  /** `isWhole`: the response held the client's whole target. */
  rejected(...about: Parameters<Seat["rejected"]>): void {
    this.#seat.rejected(...about);
  }

  /** The stream ends; its client can be asked for the last time. */
  ends(): void {
    this.#seat.ends();
  }

  leave(): void {
    this.#left();
  }
}
