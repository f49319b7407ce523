import type { ResourceType } from "@xdskit/api";
import type { Node, Rejection, Snapshot, TypeStatus } from "@xdskit/protocol";
import type { RolloutSettings } from "../../settings/rollout-settings.js";
import type { Group } from "../group.js";
import type { PlannedRollout } from "../group-preview.js";
import type { RolloutAhead } from "../nodes/reported-stream.js";

/**
 * Decides which snapshot each member of a group gets: the newest, one of its lineage, or a branch of one of these.
 *
 * The server asks at each turn of a stream, so an answer costs nothing that grows with the group, and is the same
 * object until the policy says that it changed (`MemberClient.targetChanged`). An old snapshot that it keeps costs what
 * differs from the newest.
 *
 * A policy must let through what was supplied on demand (the wish `on-demand` in `newestChanged`): its client waits for
 * it.
 *
 * Several policies are asked in a row for a snapshot: each gets the choice of the one before it, so put one that keeps
 * old snapshots last. `newestChanged` and `PolicyGroup.newest` are about the group's newest for each of them.
 */
export interface TargetPolicy {
  /** Called before nodes are told something, and waited for. Undefined: nothing has to be read. */
  prepare?(): Promise<void> | undefined;
  /** From now on nodes are told what there is. */
  opened?(): void;
  /** See `Source.catchUp`, for what it has in common with other servers. */
  catchUp?(): Promise<void> | undefined;
  /** A group is in use, until `close`. */
  open(group: PolicyGroup): GroupPolicy;
}

/** A group whose members get snapshots. */
export interface PolicyGroup {
  readonly settings: Group;
  /** The group's newest snapshot; undefined while nothing is known, or may be told. */
  newest(): Snapshot | undefined;
  /**
   * The members' snapshots are others now: heartbeats follow these. A member that joins or leaves is no such change.
   */
  targetsChanged(): void;
}

/** The policy for one group. */
export interface GroupPolicy {
  /**
   * Whether all members get the newest snapshot. Then streams that a change does not concern follow it without a turn,
   * so it must be false before `newestChanged` returns if a member does not get the change. False costs each stream of
   * all groups with these layers a turn for each change.
   */
  readonly isPlain: boolean;
  /**
   * A stream or a poll joins the group. `node` is that of its first request, for good. A node may have several members.
   * One that comes back is a new one, perhaps before the old one leaves: what it had, the policy must remember, within
   * a bound.
   */
  join(node: Node, kind: MemberKind, client: MemberClient): Seat;
  /** The group's settings were replaced. */
  use?(settings: Group): void;
  /** How a change of the newest snapshot would go to the members; undefined: at once. Nothing is changed. */
  planned?(before: Snapshot, after: Snapshot): PlannedRollout | undefined;
  /** The group's newest snapshot has changed; no member was told yet. */
  newestChanged?(before: Snapshot, after: Snapshot, wish: Wish): void;
  /** Whether it wants to hear of changes while nodes are told nothing. They cost the whole snapshot. */
  readonly countsEarly?: boolean;
  /** Such a change, which is not a part of what a source starts with. */
  newestChangedEarly?(before: Snapshot, after: Snapshot, wish: Wish): void;
  /** The snapshots that members get now, if these are not only the newest. */
  snapshots?(): Iterable<Snapshot>;
  /** The group has no members any more, and is in no settings. */
  close?(): void;
}

/**
 * The place of one member. Each push looks into the seats of all streams, which are too many for the processor's
 * cache: let it be one small object.
 */
export interface Seat {
  /**
   * The snapshot that the member gets, `newest` or another one; reports ask for it too, at any time. Undefined for a
   * stream that came just now, if that is not known yet: `MemberClient.targetChanged` follows soon. Never for a poll,
   * or another member without `status`.
   */
  snapshot(newest: Snapshot): Snapshot | undefined;
  /** What is on its way to the member and has not reached it; undefined: nothing. */
  rollout?(newest: Snapshot): RolloutAhead | undefined;
  /**
   * Why the member does not get `newest`, for people: `it is in maintenance`. Undefined: it does, or `rollout` says
   * why; what neither explains is reported as a quarantine.
   */
  why?(newest: Snapshot): string | undefined;
  /** The member may stand elsewhere now: it was sent something, or answered. */
  progressed?(): void;
  /** `isWhole`: the response had the client's whole target. */
  rejected?(type: ResourceType, rejection: Rejection, isWhole: boolean): void;
  /** The member can be asked for the last time. */
  ends?(): void;
  /** The member is gone. */
  leave?(): void;
}

/** What joins a group. */
export type MemberKind = "stream" | "poll";

/** The part of a member that a policy asks. */
export interface MemberClient {
  /** Its target may have changed; `newest`: it is this snapshot, as for all others with this list of layers. */
  targetChanged(newest?: Snapshot): void;
  /**
   * Undefined for a client that acknowledges nothing, such as a poll. `pending`, too, where another policy keeps the
   * choice of this one from it.
   */
  standing?(): MemberStanding;
  status?(): readonly TypeStatus[];
}

/**
 * The state of a stream relative to its target. `synced`: its client uses exactly that. `rejected`: it uses all of it
 * except contents that it rejected, which it is not sent again. `pending`: something is still to be sent or to be
 * answered.
 */
export type MemberStanding = "synced" | "rejected" | "pending";

/**
 * How a change goes out: by these steps, by the group's settings (undefined), at once for all (`off`), or as a
 * supplied resource.
 */
export type Wish = RolloutSettings | "off" | "on-demand" | undefined;
