import type { Node, Snapshot, TypeStatus } from "@xdskit/protocol";

/**
 * The state of a stream relative to its target. `settled`: its client uses exactly that. `rejected`: it uses all of it
 * except contents that it rejected, which it is not sent again. `pending`: something is still to be sent or to be
 * answered.
 */
export type MemberStanding = "settled" | "rejected" | "pending";

/** The part of a member that its group asks. */
export interface MemberClient {
  /** Its target may have changed; `newest`: it is this snapshot, as for all others with this list of layers. */
  changed(newest?: Snapshot): void;
  /** Undefined for a client that acknowledges nothing, such as a poll. */
  standing?(): MemberStanding;
  status?(): readonly TypeStatus[];
}

/** A stream, or a poll, of a node in the group. */
export interface Member {
  readonly node: Node;
  readonly kind: "stream" | "poll";
  readonly client: MemberClient;
  /** Counted up: a later member has a higher number. */
  readonly order: number;
}
