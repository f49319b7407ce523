import type { Resource } from "@xdskit/api";
import type { XdsServer } from "../contracts/xds-server.js";

/** All that a layer holds. */
export function resourcesOfLayer(layer: ReturnType<XdsServer["layerSnapshot"]>): readonly Resource[] {
  return [...(layer?.sets.values() ?? [])].flatMap((set) => [...set]);
}
