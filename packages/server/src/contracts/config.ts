import type { Message } from "@bufbuild/protobuf";
import type { Resource, ResourceName } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";
import type { RolloutSettings } from "../settings/rollout-settings.js";
import type { ConfigArrival } from "./nodes/arrival.js";

/** Names one resource: its type as people type it (`cluster`, `cds`) or its type URL, and its name. */
export interface ResourceSelector {
  readonly type: string;
  readonly name: ResourceName;
}

/** A change of a program's configuration. */
export interface ConfigUpdate {
  /** Adds resources, or replaces those with the same type and name. */
  readonly upsert?: Iterable<Message | Resource>;
  /** An unknown name is no error. A resource that is also in `upsert` stays. */
  readonly remove?: Iterable<ResourceSelector>;
}

/** How one change goes to the nodes. */
export interface ChangeOptions {
  /**
   * The steps, in every group that sees the change; `off`: to all nodes at once. Default: the settings of each group.
   */
  readonly rollout?: RolloutSettings | "off" | undefined;
}

/**
 * One layer of resources that a program sets. Each call is one atomic change: it is applied whole, or it throws an
 * XdskitError and changes nothing. Resources with unchanged content are sent to no client. Calls in one turn of the
 * event loop reach clients as one change. Each call returns an arrival, which says how far the change has come.
 */
export interface ConfigLayer {
  readonly name: LayerName;
  /**
   * Replaces the content of the layer. A message is one of Envoy's, made with `create(ClusterSchema, …)`; a `Resource`
   * (from `createResource`) can also have aliases and a TTL, and is taken as it is. Throws if a message is of no known
   * type, has no name or breaks a validation rule of its proto, and if a name appears twice for one type.
   */
  set(resources: Iterable<Message | Resource>, options?: ChangeOptions): ConfigArrival;
  /** Changes only the named resources. Throws as `set` does, and for an unknown type in `remove`. */
  update(update: ConfigUpdate, options?: ChangeOptions): ConfigArrival;
  /** `update` with `remove` only. */
  remove(...resources: readonly ResourceSelector[]): ConfigArrival;
  /**
   * Names the types whose content in this layer is not known yet, though other types are. Clients that ask for all
   * resources of such a type, or for a collection, get no answer for it and keep what they have, until a later call
   * leaves the type out. Throws for an unknown type.
   */
  awaits(types: Iterable<string>): void;
  /**
   * Removes the layer with all its resources, from all groups. Nothing of it is kept, not even its name, while an
   * emptied layer still costs memory. Setting it again makes a new layer of this name. Does nothing if there is none.
   */
  drop(): ConfigArrival;
}

/** The layers that a program sets: the layer `default`, and any number of others by name. */
export interface Config extends ConfigLayer {
  /**
   * Another layer, for groups to name; the same name gives the same layer.
   *
   * @example
   * ```ts
   * import { edsCluster } from "@xdskit/api/builders";
   * import { createServer } from "@xdskit/server";
   *
   * const groups = [
   *   { name: "edge", match: { cluster: "edge-*" }, layers: ["default", "edge"] },
   *   { name: "rest", match: {}, layers: ["default"] },
   * ];
   * const server = createServer({ groups });
   * server.config.set([edsCluster({ name: "web" })]);
   * // Over that, for the nodes of the group `edge`.
   * server.config.layer("edge").set([edsCluster({ name: "web", connectTimeout: { seconds: 1n } })]);
   * ```
   */
  layer(name: LayerName): ConfigLayer;
}

/** The layer that `server.config.set` writes. */
export const defaultLayer: LayerName = "default";
