import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import type { LayerName } from "../settings/group-settings.js";

/** Names one resource of a layer. */
export interface ResourceKey {
  readonly type: ResourceType;
  readonly name: ResourceName;
}

/** The real differences of a layer. A resource that was set again with the same content is not in it. */
export interface LayerChange {
  readonly layer: LayerName;
  readonly upserted: readonly Resource[];
  readonly removed: readonly ResourceKey[];
}

/** A resource, and the layer that has it after a change. */
export interface LayerResource {
  readonly layer: LayerName;
  readonly resource: Resource;
}
