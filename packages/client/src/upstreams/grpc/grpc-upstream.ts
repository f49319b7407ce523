import { credentialsOf } from "../../credentials/grpc-credentials.js";
import type { GrpcServerSettings } from "../../options/client-options.js";
import type { Upstream, UpstreamContext, UpstreamSink } from "../contract/upstream.js";
import { createGrpcTransport } from "./grpc-transport.js";
import { createStreamUpstream } from "./stream-upstream.js";

/** Discovery over gRPC. Throws an XdskitError for invalid TLS settings or headers. */
export function createGrpcUpstream(
  settings: GrpcServerSettings,
  context: UpstreamContext,
  sink: UpstreamSink,
): Upstream {
  const { address, variant = "delta", api = "v3", aggregated = true } = settings;
  const { ignoreResourceDeletion: keepRemoved, failOnDataErrors: dropRejected } = settings;
  const credentials = credentialsOf(settings);
  const transport = createGrpcTransport({ address, credentials, responseBytes: context.limits.responseBytes });
  const how = { server: address, variant, api, aggregated, keepRemoved, dropRejected };
  return createStreamUpstream({ ...how, transport }, context, sink);
}
