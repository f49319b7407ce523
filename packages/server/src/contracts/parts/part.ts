import type { LiveOptions } from "../kernel-options.js";
import type { LayerChange } from "../layer-change.js";
import type { ConfigArrival } from "../nodes/arrival.js";
import type { ServerStats } from "../stats.js";
import type { Service } from "../transport.js";
import type { XdsServer } from "../xds-server.js";
import type { Judge } from "./judge.js";
import type { Kernel } from "./kernel.js";
import type { Progress } from "./progress.js";
import type { Supply } from "./supply.js";
import type { TargetPolicy } from "./target-policy.js";

/** Makes a part of one server, before that has a configuration. It reads its options from the kernel. */
export type Part = (kernel: Kernel) => PluggedPart;

/** What a part plugs into its server. All of it may be left out. */
export interface PluggedPart {
  /** Changes are made if all judges of all parts have nothing against them. The first one that has is told. */
  readonly judges?: readonly Judge[];
  readonly policy?: TargetPolicy;
  /** Of all parts, one at most. */
  readonly supply?: Supply;
  readonly progress?: Progress;
  /** gRPC services beside discovery. */
  readonly services?: readonly OfferedServices[];
  /** The methods of `XdsServer` that it answers. Without them, these throw. */
  readonly answers?: Partial<PartAnswers>;
  /** Its share of the server's numbers. */
  stats?(): Partial<PartStats>;
  /** Options were replaced; nodes are in their new groups. */
  reconfigured?(change: LiveOptions): void;
  /** The server begins to close: nothing may wait for a client any more. */
  closing?(): void;
  /** No client is left. */
  closed?(): void;
}

/** Services of one kind. */
export interface OfferedServices {
  readonly services: readonly Service[];
  /** Why they answer UNIMPLEMENTED; undefined: they are served. */
  readonly off?: string | undefined;
  /** Whether they record the calls that they end with an error. Default: the server does. */
  readonly recordsErrors?: boolean;
  /** Whether everybody may call them, whatever the rules for callers say. Default: no. */
  readonly isOpen?: boolean;
}

/** What parts answer of a server's methods. */
export interface PartAnswers
  extends Pick<
    XdsServer,
    | "clientStatusPage"
    | "contentArrival"
    | "danglingNames"
    | "eachNode"
    | "loadReports"
    | "loadTotals"
    | "node"
    | "nodeConfig"
    | "nodeContents"
    | "nodeHistory"
    | "nodeStates"
    | "nodes"
    | "oldestInUse"
    | "quarantines"
    | "rollouts"
    | "shareRollouts"
  > {
  /** How far a change of a layer has come; `change` undefined: it made no difference. */
  arrivalOf(revision: number, change: LayerChange | undefined): ConfigArrival;
}

/** What parts count. */
export type PartStats = Pick<ServerStats, "onDemand" | "views">;
