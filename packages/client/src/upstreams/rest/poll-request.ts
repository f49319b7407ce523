import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry, writeMessage } from "@xdskit/api";

/** Turns the requests of a client's end into what is polled with: the last one is kept, since polls repeat it. */
export interface PollRequests {
  /** A serialized `DiscoveryRequest` as JSON. Throws an XdskitError where the node holds what JSON cannot say. */
  json(request: Uint8Array): Buffer;
}

export function createPollRequests(registry: Registry = envoyRegistry()): PollRequests {
  const schema = registry.getMessage("envoy.service.discovery.v3.DiscoveryRequest");
  if (schema === undefined) throw new Error("the registry lacks DiscoveryRequest");
  let last: { readonly request: Uint8Array; readonly json: Buffer } | undefined;
  return {
    json(request) {
      if (last?.request === request) return last.json;
      // v2's has the same fields.
      const json = Buffer.from(writeMessage(fromBinary(schema, request), "json", { registry, withType: false }));
      last = { request, json };
      return json;
    },
  };
}
