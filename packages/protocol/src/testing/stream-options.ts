import { type ResourceType, resourceTypes } from "@xdskit/api";
import { defaultStreamLimits, type SotwOrDelta, type StreamOptions } from "../index.js";

/** The options of a v3 stream of a server with default settings; `only`: of one type. */
export function usualStream(variant: SotwOrDelta, only?: ResourceType): StreamOptions {
  return { variant, api: "v3", types: resourceTypes, limits: defaultStreamLimits, defaultNode: undefined, only };
}
