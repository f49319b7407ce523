import type { Clock, ResourceTypes } from "@xdskit/api";
import type { Node, Snapshot, StatusCode } from "@xdskit/protocol";
import type { Caller } from "../../identity/caller.js";
import type { LayerName } from "../../settings/group-settings.js";
import type { ServerLimits } from "../../settings/limits.js";
import type { Events } from "../events.js";
import type { Group } from "../group.js";
import type { KernelOptions, LiveOptions } from "../kernel-options.js";
import type { SourceTrouble } from "../nodes/node-status.js";
import type { ReportedStream } from "../nodes/reported-stream.js";
import type { CallInfo } from "../nodes/stream-info.js";
import type { LayerUpdate } from "../source.js";
import type { Refusal } from "../transport.js";
import type { MakeIndex, SnapshotIndex } from "./snapshot-index.js";

/** The server, as its parts see it. A part keeps it, and calls it only once all parts are made. */
export interface Kernel {
  /** As the server was made with. */
  readonly options: KernelOptions;
  /** Those that `reconfigure` replaces, as they are now. */
  readonly live: LiveOptions;
  readonly types: ResourceTypes;
  readonly limits: ServerLimits;
  /** The authorities that are served; undefined: any. */
  readonly authorities: ReadonlySet<string> | undefined;
  readonly clock: Clock;
  readonly events: Events;
  /** Open streams, in the order in which they were opened. */
  readonly streams: Iterable<ReportedStream>;
  readonly layers: KernelLayers;
  readonly groups: KernelGroups;
  readonly calls: KernelCalls;
  /** The sources whose newest content is not served. */
  troubles(): readonly SourceTrouble[];
}

/** The layers, and what is derived from them. */
export interface KernelLayers {
  /** In the order in which they first appeared, without those below. */
  readonly names: readonly LayerName[];
  /** The content of a layer; undefined for a layer that never had content, or that was dropped. */
  get(layer: LayerName): Snapshot | undefined;
  /** Changes a layer below a group's own (`layerBelow`) and tells its streams. No judge is asked. */
  bring(update: LayerUpdate): void;
  /** Removes such a layer. */
  drop(layer: LayerName): void;
  /** The index of a group's newest snapshot. Undefined if there is no such group, or nothing is known yet. */
  indexOf<Index extends SnapshotIndex>(group: string, make: MakeIndex<Index>): Index | undefined;
}

/** Lets clients into the groups of their nodes, for services that need these. */
export interface KernelGroups {
  admit(caller: Caller, node: Node): KernelAdmission | Refusal;
  /** The same after groups have changed; undefined: the node stays in its group. */
  readmit(caller: Caller, node: Node, membership: GroupMembership): KernelAdmission | Refusal | undefined;
}

/** A node that was let in. */
export interface KernelAdmission {
  /** The load that the group asks its nodes to report. */
  readonly loadReports: Group["loadReports"];
  join(client: { targetChanged(): void }): GroupMembership;
}

/** A client in its group, until it leaves. */
export interface GroupMembership {
  /** The name of the group. */
  readonly group: string;
  /** Unique among groups. */
  readonly key: string;
  /** Undefined while nothing is known. */
  snapshot(): Snapshot | undefined;
  leave(): void;
}

/** Calls of services beside discovery, for counts and events. */
export interface KernelCalls {
  info(service: string, peer: string): CallInfo;
  /** Counts a call that was refused. */
  refused(code: StatusCode): void;
  /** A fault of the server ended a call. */
  fault(call: CallInfo, error: unknown): void;
}
