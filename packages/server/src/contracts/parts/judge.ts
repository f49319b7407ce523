import type { Reference, ResourceName, ResourceType, Where, XdskitError } from "@xdskit/api";
import type { Snapshot } from "@xdskit/protocol";
import type { LayerName } from "../../settings/group-settings.js";
import type { LayerChange, LayerResource } from "../layer-change.js";
import type { LayerUpdate } from "../source.js";
import type { MakeIndex, SnapshotIndex } from "./snapshot-index.js";

/**
 * Says whether a change may be made, before it is made.
 *
 * It is asked about each change of a program or a source, and again whenever a refused change may have become sound.
 * It keeps nothing of a change, and costs the change, not the configuration. While nodes are told nothing, a change has
 * no stacks, so that there is nothing to judge.
 */
export interface Judge {
  /** Whether it judges also what a source that had nothing starts with. Default: false. */
  readonly judgesStart?: boolean;
  /** Whether it may find something. Asked first, since it saves the plan of the change. */
  concerns(updates: readonly LayerUpdate[]): boolean;
  /** The reasons against the change; undefined: none. */
  judge(change: JudgedChange): XdskitError | undefined;
}

/** A change that is not made yet. */
export interface JudgedChange {
  readonly changes: readonly LayerChange[];
  /** The stacks that it touches, of groups that are served something already. */
  readonly stacks: readonly JudgedStack[];
  readonly whereIs: WhereWritten;
  /** Whether a name is one that this server alone can have: nobody else is asked for it. */
  readonly isOwnName: IsOwnName;
}

/** A list of layers, and the groups that have it. */
export interface JudgedStack {
  /** From the lowest to the highest, as they are after the change. */
  readonly order: readonly LayerName[];
  /** The current snapshot of its groups. */
  readonly before: Snapshot;
  /** What it has under a key after the change; undefined: nothing. */
  winner(type: ResourceType, key: ResourceName): LayerResource | undefined;
  /** The index of the current snapshot. */
  index<Index extends SnapshotIndex>(make: MakeIndex<Index>): Index;
  /** The names of its groups. Costs a look at all groups: call it for what is refused. */
  groups(): readonly string[];
}

/** Whether a name is one that a server alone can have: nobody else is asked for it. */
export type IsOwnName = (reference: Reference) => boolean;

/** Where the resource of a layer is written, or its field with this reference; undefined: it is not known. */
export type WhereWritten = (one: LayerResource, reference?: Reference) => Where | undefined;
