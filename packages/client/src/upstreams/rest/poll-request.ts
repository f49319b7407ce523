import { fromBinary } from "@bufbuild/protobuf";
import { envoyRegistry, type Registry, writeMessage } from "@xdskit/api";

/** One poll, ready to send. */
export interface PollRequest {
  readonly json: Buffer;
  /** It claims a version, so a server that has nothing newer may hold it (rule 143). */
  readonly hasVersion: boolean;
}

/** Turns the client's requests into polls. It keeps the last one, since polls repeat it. */
export interface PollRequests {
  /** A serialized `DiscoveryRequest` as JSON. Throws an XdskitError where JSON cannot express the node. */
  of(request: Uint8Array): PollRequest;
}

export function createPollRequests(registry: Registry = envoyRegistry()): PollRequests {
  const schema = registry.getMessage("envoy.service.discovery.v3.DiscoveryRequest");
  if (schema === undefined) throw new Error("the registry lacks DiscoveryRequest");
  let last: { readonly request: Uint8Array; readonly poll: PollRequest } | undefined;
  return {
    of(request: Uint8Array): PollRequest {
      if (last?.request === request) return last.poll;
      // The v2 message has the same fields.
      const message = fromBinary(schema, request);
      const json = Buffer.from(writeMessage(message, "json", { registry, withType: false }));
      const poll = { json, hasVersion: "versionInfo" in message && message.versionInfo !== "" };
      last = { request, poll };
      return poll;
    },
  };
}
