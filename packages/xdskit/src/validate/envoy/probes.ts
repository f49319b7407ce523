import type { Resource } from "@xdskit/api";
import { any, contentOf, encoded, field } from "./wire.js";

/** A resource in the form in which Envoy reads it from a bootstrap. */
export interface Probe {
  readonly resource: Resource;
  readonly as: "cluster" | "listener";
  /** The name of the cluster or listener. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

const clusterType = "envoy.config.cluster.v3.Cluster";
const listenerType = "envoy.config.listener.v3.Listener";
const routesType = "envoy.config.route.v3.RouteConfiguration";
const tls = "envoy.extensions.transport_sockets.tls.v3";
const managerType = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/**
 * What to ask Envoy about: clusters and listeners as they are, everything else in a cluster or listener made for it.
 * Undefined if a bootstrap has no place for it.
 */
export function probeOf(resource: Resource): Probe | undefined {
  const { type, name, body } = resource;
  const own = `xdskit validates ${type.name} ${name}`;
  const cluster = (...parts: readonly Uint8Array[]): Probe => {
    const start = encoded(clusterType, { name: own, type: "STATIC", connect_timeout: "1s" });
    return { resource, as: "cluster", name: own, bytes: Buffer.concat([start, ...parts]) };
  };
  switch (type.name) {
    case "cluster":
      return { resource, as: "cluster", name, bytes: body };
    case "listener":
      // Envoy takes one only from its bootstrap, and gRPC's clients are meant.
      if (contentOf(body, listenerType, "api_listener") !== undefined) return undefined;
      return { resource, as: "listener", name, bytes: body };
    case "endpoint":
      return cluster(field(clusterType, "load_assignment", body));
    case "route":
      return { resource, as: "listener", name: own, bytes: listenerOf(own, body) };
    case "virtual-host":
      return {
        resource,
        as: "listener",
        name: own,
        bytes: listenerOf(own, field(routesType, "name", own), field(routesType, "virtual_hosts", body)),
      };
    case "secret": {
      const socket = socketOf(body);
      return socket && cluster(field(clusterType, "transport_socket", socket));
    }
    default:
      return undefined;
  }
}

/** A listener with these routes. As with RDS, the clusters of the routes need not exist. */
function listenerOf(name: string, ...routes: readonly Uint8Array[]): Uint8Array {
  const start = encoded(listenerType, {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: 0 } },
  });
  // Merged with the routes' own value, if there is one.
  const lenient = field(routesType, "validate_clusters");
  const manager = [
    encoded(managerType, {
      stat_prefix: "xdskit",
      http_filters: [
        {
          name: "router",
          typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
        },
      ],
    }),
    field(managerType, "route_config", ...routes, lenient),
  ];
  const filter = [
    field("envoy.config.listener.v3.Filter", "name", "manager"),
    field("envoy.config.listener.v3.Filter", "typed_config", any(managerType, ...manager)),
  ];
  const chain = field("envoy.config.listener.v3.FilterChain", "filters", ...filter);
  return Buffer.concat([start, field(listenerType, "filter_chains", chain)]);
}

/** A transport socket that uses a secret; undefined for other kinds of secrets. */
function socketOf(secret: Uint8Array): Uint8Array | undefined {
  const certificate = contentOf(secret, `${tls}.Secret`, "tls_certificate");
  const validation = contentOf(secret, `${tls}.Secret`, "validation_context");
  const part =
    certificate === undefined
      ? validation && field(`${tls}.CommonTlsContext`, "validation_context", validation)
      : field(`${tls}.CommonTlsContext`, "tls_certificates", certificate);
  if (part === undefined) return undefined;
  const context = field(`${tls}.UpstreamTlsContext`, "common_tls_context", part);
  return Buffer.concat([
    field("envoy.config.core.v3.TransportSocket", "name", "tls"),
    field("envoy.config.core.v3.TransportSocket", "typed_config", any(`${tls}.UpstreamTlsContext`, context)),
  ]);
}
