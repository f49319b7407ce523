import type { Resource } from "@xdskit/api";
import type { Source } from "../contracts/source.js";

/** A source that brings these resources, and nothing later. */
export function memorySource(layer: string, resources: readonly Resource[]): Source {
  return {
    name: layer,
    async start(sink) {
      sink.apply([{ layer, kind: "replace", upsert: resources }]);
      sink.report([]);
    },
    async close() {},
  };
}
