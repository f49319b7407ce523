import type { Clock, Finding, ResourceName, ResourceType } from "@xdskit/api";
import type { Group } from "../../contracts/group.js";
import type { ResourceKey } from "../../contracts/layer-change.js";
import type { OnDemandLimits, Supplier } from "../../settings/on-demand-options.js";
import type { Calls, CheckedResult, SupplierResult } from "./calls.js";
import type { Lingering } from "./lingering.js";
import type { WantedState } from "./wanted.js";

/** Results for a name, for events. */
export type DemandOutcome = "supplied" | "absent" | "failed" | "dropped" | "refused";

/** The parts that the groups of a server share. */
export interface DemandContext {
  readonly supply: Supplier;
  readonly limits: OnDemandLimits;
  readonly calls: Calls;
  readonly clock: Clock;
  /** Checks a supplier's result. */
  check(result: SupplierResult, type: ResourceType, name: ResourceName): CheckedResult;
  readonly lingering: Lingering;
  /**
   * Whether there is room for another name of a stream that asks for `others` already. Makes room if a name lingers,
   * and reports if there is none.
   */
  admits(group: Group, type: ResourceType, name: ResourceName, others: number): boolean;
  /** Counts a name in a state, or out of one. */
  count(state: WantedState["kind"], by: 1 | -1): void;
  report(outcome: DemandOutcome, group: Group, name: ResourceKey, findings: readonly Finding[]): void;
  /** False until nodes may be told the configuration. */
  isOpen(): boolean;
  /** The group has no names any more. */
  emptied(group: Group): void;
}
