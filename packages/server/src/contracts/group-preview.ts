import type { Snapshot } from "@xdskit/protocol";

/** The effect of a change on the nodes of one group. */
export interface GroupPreview {
  readonly group: string;
  /** The target now; empty while nothing is known. */
  readonly before: Snapshot;
  /** The target with the change, derived beside the lineage of `before`. */
  readonly after: Snapshot;
}
