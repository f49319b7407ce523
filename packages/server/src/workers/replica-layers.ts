import type { Resource, ResourceTypes } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import type { LayerChange, Layers } from "../configuration/layers.js";
import type { LayerName } from "../settings/group-settings.js";
import type { PackedChange } from "./messages.js";
import { createUnpacking, type PackedResource, typeFrom } from "./packed-resources.js";

/** The layers of the main thread, as far as this one was told of their changes. Nothing is checked again. */
export interface ReplicaLayers extends Layers {
  take(changes: readonly PackedChange[]): readonly LayerChange[];
}

export function createReplicaLayers(types: ResourceTypes): ReplicaLayers {
  const layers = new Map<LayerName, Snapshot>();
  const unpack = createUnpacking(types);
  const refuse = (): never => {
    throw new Error("the layers of a worker change by what it is told only");
  };
  return {
    get names() {
      return [...layers.keys()];
    },
    get: (layer) => layers.get(layer),
    apply: refuse,
    plan: refuse,
    drop: refuse,
    take: (changes) =>
      changes.map(({ layer, upserted, removed, dropped }): LayerChange => {
        const change: LayerChange = {
          layer,
          upserted: upserted.map((each: PackedResource): Resource => unpack(each)),
          removed: removed.map(([typeUrl, name]) => ({ type: typeFrom(types, typeUrl), name })),
        };
        const before = layers.get(layer) ?? emptySnapshot();
        if (dropped) layers.delete(layer);
        else layers.set(layer, updateSnapshot(before, { upsert: change.upserted, remove: change.removed }));
        return change;
      }),
  };
}
