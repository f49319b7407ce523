import type { Node, Snapshot, TypeStatus } from "@xdskit/protocol";

/**
 * How a stream stands to what it is to have. `settled`: its client uses exactly that. `rejected`: it uses all of it but what it rejected, which it is not
 * sent again. `pending`: something is still to be sent or to be answered.
 */
export type Standing = "settled" | "rejected" | "pending";

/** What a group's view asks of who has a place in it. */
export interface Occupant {
  /** It may be to have something else than before; `newest`: this, as all others of its list of layers. */
  changed(newest?: Snapshot): void;
  /** Undefined for who acknowledges nothing, such as a poll. */
  standing?(): Standing;
  status?(): readonly TypeStatus[];
}

/** A stream, or a poll, of a group's node. */
export interface Place {
  readonly node: Node;
  readonly way: "stream" | "poll";
  readonly subscriber: Occupant;
  /** Counted up, so that it says who came first. */
  readonly order: number;
}
