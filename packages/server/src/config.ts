import type { Message } from "@bufbuild/protobuf";
import type { Resource, ResourceName } from "@xdskit/api";
import type { ConfigArrival } from "./ledger/arrival.js";
import type { LayerName } from "./source.js";
import type { RolloutSettings } from "./views/rollout-settings.js";

/** Names one resource: its type as people type it (`cluster`, `cds`) or its type URL, and its name. */
export interface ResourceSelector {
  readonly type: string;
  readonly name: ResourceName;
}

/** How the configuration of a program is to change. */
export interface ConfigUpdate {
  /** Added, or put in the place of those with the same type and name. */
  readonly upsert?: Iterable<Message | Resource>;
  /** A name that is not there is no error. What is also in `upsert` is there afterwards. */
  readonly remove?: Iterable<ResourceSelector>;
}

/** How one change goes to the nodes. */
export interface ChangeOptions {
  /** By which steps, in every group that sees it; `off`: to all at once. Default: as the settings of each group say. */
  readonly rollout?: RolloutSettings | "off" | undefined;
}

/**
 * One layer of resources that a program sets. Each call is one atomic change: it is applied whole, or an XdskitError is thrown
 * and nothing changed. Resources with the content that they had are sent to nobody. Calls in one turn of the event loop reach
 * clients as one change. Each says by its arrival how far it came.
 */
export interface ConfigLayer {
  readonly name: LayerName;
  /**
   * The layer holds exactly these resources from now on. A message is one of Envoy's, made with `create(ClusterSchema, …)`; a
   * `Resource` (from `createResource`) can also have aliases and a TTL, and is taken as it is. Throws if a message is of no known type, has no
   * name or breaks a validation rule of its proto, and if a name appears twice for one type.
   */
  set(resources: Iterable<Message | Resource>, options?: ChangeOptions): ConfigArrival;
  /** Changes only what is named. Throws as `set` does, and for an unknown type in `remove`. */
  update(update: ConfigUpdate, options?: ChangeOptions): ConfigArrival;
  /** `update` with `remove` only. */
  remove(...resources: readonly ResourceSelector[]): ConfigArrival;
  /**
   * Says of which types it is not known yet what the layer has, though other types are: clients that ask for all of one, or for a collection, get no answer of that type and keep what
   * they have, until a later call leaves the type out. Throws for an unknown type, and where streams live in other threads (`workers`).
   */
  awaits(types: Iterable<string>): void;
  /**
   * Lets go of the layer: what it holds is removed from all groups, and nothing is kept of it, not even its name, while an emptied layer goes
   * on to cost memory. To set it again makes a new layer of this name. Does nothing if there is none.
   */
  drop(): ConfigArrival;
}

/** What programs set: the layer `default`, and as many more by name as a program wants. */
export interface Config extends ConfigLayer {
  /** Another layer, for groups to name; the same name gives the same layer. */
  layer(name: LayerName): ConfigLayer;
}

/** The layer that `server.config.set` writes. */
export const defaultLayer: LayerName = "default";
