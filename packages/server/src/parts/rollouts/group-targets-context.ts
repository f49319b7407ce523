import type { Clock } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { RolloutOutcome } from "../../contracts/rollouts/rollout-status.js";
import type { Member } from "./members/member.js";
import type { QuarantineEntry } from "./quarantine/quarantine.js";
import type { SharedRolloutHub } from "./shared/shared-rollouts.js";
import type { RolloutMachine } from "./steps/rollout.js";

/** The parts of the server that a group's targets need. */
export interface GroupTargetsContext {
  readonly group: string;
  readonly clock: Clock;
  /** Whether contents that clients reject are kept from later streams. */
  readonly keepsLastGood: boolean;
  /** All streams and polls of the group. */
  readonly members: ReadonlySet<Member>;
  /** The order of the member that came last. */
  readonly lastOrder: number;
  /** Rollouts are one for several servers; undefined: this server has its own. */
  readonly shared: SharedRolloutHub | undefined;
  /** The group's newest snapshot; undefined while nothing is known yet. */
  newest(): Snapshot | undefined;
  nextId(): number;
  /** Some of the members get another snapshot now. */
  spread(): void;
  rolloutIs(outcome: RolloutOutcome, rollout: RolloutMachine): void;
  quarantineIs(outcome: "began" | "ended", entries: readonly QuarantineEntry[]): void;
}
