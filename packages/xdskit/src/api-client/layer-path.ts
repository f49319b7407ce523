/** The path of a layer. */
export function layerPath(layer: string): string {
  return `/api/v1/layers/${encodeURIComponent(layer)}`;
}
