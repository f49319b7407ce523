import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry, writeMessage } from "@xdskit/api";

/** Turns the client's requests into polls. It keeps the last one, since polls repeat it. */
export type PollRequests = ReturnType<typeof createPollRequests>;

export function createPollRequests(registry: Registry = envoyRegistry()) {
  const schema = registry.getMessage("envoy.service.discovery.v3.DiscoveryRequest");
  if (schema === undefined) throw new Error("the registry lacks DiscoveryRequest");
  let last: { readonly request: Uint8Array; readonly json: Buffer } | undefined;
  return {
    /** A serialized `DiscoveryRequest` as JSON. Throws an XdskitError where JSON cannot express the node. */
    json(request: Uint8Array): Buffer {
      if (last?.request === request) return last.json;
      // The v2 message has the same fields.
      const json = Buffer.from(writeMessage(fromBinary(schema, request), "json", { registry, withType: false }));
      last = { request, json };
      return json;
    },
  };
}
