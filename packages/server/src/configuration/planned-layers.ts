import type { Resource, ResourceName, ResourceType } from "@xdskit/api";
import { idOf } from "../basics/id-of.js";
import type { LayerChange, LayerResource } from "../contracts/layer-change.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Layers } from "./layers.js";

/** A layer's part of a change, by type and key; undefined: it is removed. */
type PlannedKeys = ReadonlyMap<string, Resource | undefined>;

/**
 * The layers as they would be after a change that is not made. Nothing is derived: then the current snapshot would no
 * longer be the newest. Costs the change.
 */
export class PlannedLayers {
  readonly #layers: Layers;
  readonly #changed: ReadonlyMap<LayerName, PlannedKeys>;

  constructor(layers: Layers, changes: readonly LayerChange[]) {
    this.#layers = layers;
    this.#changed = new Map(changes.map((change) => [change.layer, plannedKeys(change)]));
  }

  /** The layers that the change touches, which may be new. */
  get touched(): readonly LayerName[] {
    return [...this.#changed.keys()];
  }

  get(layer: LayerName, type: ResourceType, key: ResourceName): Resource | undefined {
    const changed = this.#changed.get(layer);
    const id = changed && idOf({ type, key });
    if (changed !== undefined && id !== undefined && changed.has(id)) return changed.get(id);
    return this.#layers.get(layer)?.of(type).get(key);
  }
}

/** Finds what a stack with these layers, from the lowest to the highest, would have under a key, and in which layer. */
export function winnerIn(order: readonly LayerName[], planned: Pick<PlannedLayers, "get">) {
  const highestFirst = order.toReversed();
  return (type: ResourceType, key: ResourceName): LayerResource | undefined => {
    for (const layer of highestFirst) {
      const resource = planned.get(layer, type, key);
      if (resource !== undefined) return { layer, resource };
    }
    return undefined;
  };
}

function plannedKeys({ upserted, removed }: LayerChange): PlannedKeys {
  const keys = new Map<string, Resource | undefined>();
  for (const { type, name } of removed) keys.set(idOf({ type, key: name }), undefined);
  for (const resource of upserted) keys.set(idOf(resource), resource);
  return keys;
}
