import type { JsonObject } from "@bufbuild/protobuf";

export const config = "envoy.config.";
export const ext = "envoy.extensions.";
export const hcm = `${ext}filters.network.http_connection_manager.v3.`;
/** An `Any` in JSON. */
export const any = (type: string, content: JsonObject = {}): JsonObject => ({
  "@type": `type.googleapis.com/${type}`,
  ...content,
});

/** A message that names an extension and holds its configuration. */
export const named = (name: string, type: string, content: JsonObject = {}): JsonObject => ({
  name,
  typed_config: any(type, content),
});

/** Clusters that exist in every Envoy that judges resources. Resources name only these. */
export const knownClusters = ["backend", "grpc"] as const;

/** Replaced by the values of each case. */
export const placeholders = {
  name: "$NAME",
  port: "$PORT",
  certificate: "$CERTIFICATE",
  key: "$KEY",
  folder: "$FOLDER",
};

/** The source of other resources. */
export const ads: JsonObject = { ads: {}, resource_api_version: "V3" };
export const router: JsonObject = {
  name: "envoy.filters.http.router",
  typed_config: any(`${ext}filters.http.router.v3.Router`),
};
export const codec: JsonObject = {
  name: "envoy.filters.http.upstream_codec",
  typed_config: any(`${ext}filters.http.upstream_codec.v3.UpstreamCodec`),
};
export const tcpProxy: JsonObject = {
  name: "envoy.filters.network.tcp_proxy",
  typed_config: any(`${ext}filters.network.tcp_proxy.v3.TcpProxy`, { stat_prefix: "tcp", cluster: "backend" }),
};
export const rawBuffer: JsonObject = {
  name: "envoy.transport_sockets.raw_buffer",
  typed_config: any(`${ext}transport_sockets.raw_buffer.v3.RawBuffer`),
};
export const direct: JsonObject = { match: { prefix: "/" }, direct_response: { status: 200 } };
export const virtualHost: JsonObject = { name: "all", domains: ["*"], routes: [direct] };
export const grpcService: JsonObject = { envoy_grpc: { cluster_name: "grpc" } };
export const endpoint: JsonObject = {
  lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } } }],
};
export const format: JsonObject = { text_format_source: { inline_string: "%RESPONSE_CODE%\n" } };
export const metadataKey: JsonObject = { key: "envoy.lb", path: [{ key: "stage" }] };
