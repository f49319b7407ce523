import type { DescField, Message } from "@bufbuild/protobuf";
import type { FieldPath } from "../errors/field-path.js";

/** Who asks for a resource. */
export type Readers = "grpc" | "envoy" | "both";

/** Fields that Envoy needs and gRPC's clients do not use, so that other control planes leave them out. */
const spared: ReadonlySet<string> = new Set([
  "xds.core.v3.CollectionEntry.InlineEntry.name",
  "envoy.config.core.v3.GrpcService.GoogleGrpc.stat_prefix",
  "envoy.config.route.v3.VirtualHost.name",
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.stat_prefix",
  // The certificates come from providers that a client's bootstrap configures (A29).
  "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CombinedCertificateValidationContext.validation_context_sds_secret_config",
]);

/** Whether gRPC's clients do without a field that a rule of the protos requires. */
export function isSpared(field: DescField): boolean {
  return spared.has(`${field.parent?.typeName}.${field.name}`);
}

/** Types that gRPC's clients and Envoys ask for by the same names. */
const shared: ReadonlySet<string> = new Set([
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
  "envoy.config.route.v3.RouteConfiguration",
]);

/** `grpc/server?xds.resource.listening_address=…`, and what other control planes call it. */
const ofServer = /(?:^|\/)grpc\//;
/** An address at the end: gRPC's servers get their names by putting their address into a template. */
const withAddress = /(?:^|[^\d.])(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]):\d+$/i;

/** Lists of endpoints (gRFC A95): Envoy asks for endpoints one by one. */
const listOfEndpoints = "envoy.config.endpoint.v3.LbEndpointCollection";

/** Who may ask for a resource. A listener's name says it; an `api_listener` in it is for gRPC's clients anyway. */
export function readersOf(message: Message): Readers {
  const { $typeName, name } = message as Message & { readonly name?: unknown };
  if (shared.has($typeName)) return "both";
  if ($typeName === listOfEndpoints) return "grpc";
  if ($typeName !== "envoy.config.listener.v3.Listener" || typeof name !== "string") return "envoy";
  if (ofServer.test(name)) return "grpc";
  return withAddress.test(name) ? "both" : "envoy";
}

/** Whether a path is inside an API listener, which only gRPC's clients read from a server. */
export function isOfGrpc(path: FieldPath | undefined): boolean {
  for (let at = path; at !== undefined; at = at.parent) if (at.step === "api_listener") return true;
  return false;
}
