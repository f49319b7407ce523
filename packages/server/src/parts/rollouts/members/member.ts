import type { Node } from "@xdskit/protocol";
import type { MemberClient, MemberKind } from "../../../contracts/parts/target-policy.js";

/** A stream, or a poll, of a node in the group. */
export interface Member {
  readonly node: Node;
  readonly kind: MemberKind;
  readonly client: MemberClient;
  /** Counted up: a later member has a higher number. */
  readonly order: number;
}
