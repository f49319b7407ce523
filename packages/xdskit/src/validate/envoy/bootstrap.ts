import type { JsonObject } from "@bufbuild/protobuf";
import type { Probe } from "./probes.js";
import { encoded, field } from "./wire.js";

const type = "envoy.config.bootstrap.v3.Bootstrap";
const staticType = `${type}.StaticResources`;
const server = "xdskit validates, and has no server";
const url = (name: string) => `type.googleapis.com/envoy.extensions.${name}`;

/** A cluster that is there, and has no endpoints. It speaks HTTP/2, so that gRPC services can name it. */
function stub(name: string): JsonObject {
  const http2 = {
    "@type": url("upstreams.http.v3.HttpProtocolOptions"),
    explicit_http_config: { http2_protocol_options: {} },
  };
  return {
    name,
    type: "STATIC",
    connect_timeout: "1s",
    typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2 },
  };
}

/**
 * The bootstrap of an Envoy that has these clusters and listeners, and a cluster without endpoints for each further
 * name: as bytes, as Envoy reads them from a file that ends with `.pb`.
 */
export function bootstrapOf(probes: readonly Probe[], clusters: Iterable<string>): Uint8Array {
  const start = encoded(type, {
    node: { id: "xdskit", cluster: "xdskit" },
    dynamic_resources: {
      ads_config: {
        api_type: "DELTA_GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: server } }],
      },
    },
    bootstrap_extensions: [
      {
        name: "envoy.bootstrap.internal_listener",
        typed_config: { "@type": url("bootstrap.internal_listener.v3.InternalListener") },
      },
    ],
    static_resources: { clusters: [server, ...clusters].map(stub) },
  });
  const resources = probes.map(({ as, bytes }) =>
    field(staticType, as === "cluster" ? "clusters" : "listeners", bytes),
  );
  return Buffer.concat([start, field(type, "static_resources", ...resources)]);
}
