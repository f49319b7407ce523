import type { LayerName } from "../settings/group-settings.js";

/** No program gives a layer such a name. */
const prefix = "\u0000on demand: ";

/**
 * The layer of resources supplied on demand for a group, by its key. It lies below all others: a resource that a
 * program or a folder sets wins.
 */
export function layerBelow(groupKey: string): LayerName {
  return `${prefix}${groupKey}`;
}

/** These layers are not part of "all layers", and are not shown. */
export function isBelow(layer: LayerName): boolean {
  return layer.startsWith(prefix);
}
