import type { LayerName } from "../source.js";

/** No program names a layer so. */
const prefix = "\u0000on demand: ";

/** The layer of what was supplied for a group, by its key. It lies below all others: what a program or a folder sets wins. */
export function layerBelow(groupKey: string): LayerName {
  return `${prefix}${groupKey}`;
}

/** Such layers are no part of "all layers", nor of what is shown. */
export function isBelow(layer: LayerName): boolean {
  return layer.startsWith(prefix);
}
