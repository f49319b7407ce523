import type { Node, ResourceErrorPolicy, TtlPolicy } from "@xdskit/protocol";
import type { LoadReportSettings } from "./load-report-settings.js";
import type { NodeMatch } from "./node-match.js";
import type { RolloutSettings } from "./rollout-settings.js";
/**
 * A named set of resources that groups are built from: a folder, a program's resources, or those that a relay received.
 * A group of nodes names layers; a later one wins over an earlier one by type and name.
 */
export type LayerName = string;

/** A group of nodes and their layers. Groups are tried in order; the first that matches a node wins. */
export interface GroupSettings {
  readonly name: string;
  /** The nodes of the group; see `NodeMatch`. */
  readonly match: NodeMatch;
  /** From the lowest to the highest: a later layer wins over an earlier one by type and name. */
  readonly layers: readonly LayerName[];
  /** The load that its nodes are asked to report; fields left out are as in the server's options. */
  readonly loadReports?: Partial<LoadReportSettings> | undefined;
  /** The clients of the group that are told TTLs; see `TtlPolicy`. Default: `ttl` of the server's options. */
  readonly ttl?: TtlPolicy | undefined;
  /**
   * The clients of the group that are told why resources do not exist. Default: `resourceErrors` of the server's
   * options.
   */
  readonly resourceErrors?: ResourceErrorPolicy | undefined;
  /**
   * The content for streams that come after a client rejected a content. Default: `onReject` of the server's options.
   */
  readonly onReject?: OnReject | undefined;
  /** How changes go to its nodes. Default: `rollout` of the server's options. */
  readonly rollout?: RolloutSettings | "off" | undefined;
}

/**
 * The content for a stream that is opened after another client of its group rejected the content of a resource: the
 * `newest` all the same, or the content acknowledged last (`lastGood`), until the resource has another content.
 */
export type OnReject = "newest" | "lastGood";

/** How changes go to the nodes of a group. */
export interface ViewSettings {
  readonly onReject?: OnReject | undefined;
  readonly rollout?: RolloutSettings | "off" | undefined;
}

/**
 * A program's own way to group nodes. A node for which it returns undefined, or no layers, is refused with
 * PERMISSION_DENIED. Called once for each stream; a group exists while one of its nodes has a stream. Groups with the
 * same layers share all work.
 */
export type GroupOf = (
  node: Node,
) =>
  | Pick<GroupSettings, "name" | "layers" | "loadReports" | "ttl" | "resourceErrors" | "onReject" | "rollout">
  | undefined;
