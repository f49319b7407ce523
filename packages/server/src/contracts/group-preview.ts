import type { Snapshot } from "@xdskit/protocol";
import type { RolloutStep } from "../settings/rollout-settings.js";
import type { RolloutAt } from "./nodes/node-status.js";

/** The effect of a change on the nodes of one group. */
export interface GroupPreview {
  readonly group: string;
  /** The target now; empty while nothing is known. */
  readonly before: Snapshot;
  /** The target with the change, derived beside the lineage of `before`. */
  readonly after: Snapshot;
  /** How it goes to the nodes; undefined: to all of them at once. */
  readonly rollout?: PlannedRollout | undefined;
}

/** The rollout by which a change would go to the nodes of a group. */
export interface PlannedRollout {
  readonly steps: readonly RolloutStep[];
  /** The rollout under way, which begins anew with the change; undefined: there is none. */
  readonly underWay: RolloutAt | undefined;
  /** The change takes back all that is under way: the rollout ends. */
  readonly isEnd: boolean;
}
