import { type ResourceType, resourceTypes } from "@xdskit/api";
import { defaultStreamLimits, type SotwOrDelta, type StreamOptions } from "../index.js";

/** Of a v3 stream as servers make them where nothing is set; `only`: of one type. */
export function usualStream(variant: SotwOrDelta, only?: ResourceType): StreamOptions {
  return { variant, api: "v3", types: resourceTypes, limits: defaultStreamLimits, defaultNode: undefined, only };
}
