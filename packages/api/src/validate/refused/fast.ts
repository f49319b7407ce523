/**
 * Rules that depend only on which fields a message has. They are evaluated once for all messages with the same fields,
 * so they cost the others nothing. A message that may be refused goes to the explaining readers.
 */

const cluster = "envoy.config.cluster.v3.Cluster";
const core = "envoy.config.core.v3";
const endpoint = "envoy.config.endpoint.v3";
const listener = "envoy.config.listener.v3";
const manager = "envoy.extensions.filters.network.http_connection_manager.v3";
const route = "envoy.config.route.v3";
const tls = "envoy.extensions.transport_sockets.tls.v3";

/** Rarely used fields with a rule. */
const seldom: { readonly [typeName: string]: readonly string[] } = {
  [cluster]: [
    "lb_subset_config",
    "upstream_bind_config",
    "dns_resolvers",
    "dns_failure_refresh_rate",
    "http_protocol_options",
  ],
  "envoy.config.cluster.v3.OutlierDetection": ["max_ejection_time"],
  [`${cluster}.RingHashLbConfig`]: ["minimum_ring_size", "maximum_ring_size"],
  [`${cluster}.MaglevLbConfig`]: ["table_size"],
  [`${cluster}.CommonLbConfig.ConsistentHashingLbConfig`]: ["use_hostname_for_hashing"],
  [`${core}.HealthCheck`]: ["grpc_health_check"],
  [`${core}.HealthCheck.Payload`]: ["text"],
  [`${core}.HealthCheck.HttpHealthCheck`]: [
    "expected_statuses",
    "retriable_statuses",
    "send",
    "request_headers_to_add",
  ],
  [`${core}.SocketAddress`]: ["named_port", "resolver_name", "ipv4_compat"],
  [`${endpoint}.LbEndpoint`]: ["endpoint_name"],
  [`${manager}.ScopedRoutes`]: ["scoped_route_configurations_list"],
  [`${route}.RouteConfiguration`]: ["max_direct_response_body_size_bytes"],
  [`${route}.VirtualHost`]: ["matcher"],
  [`${route}.RetryPolicy.RetryBackOff`]: ["max_interval"],
  [`${tls}.TlsCertificate`]: ["pkcs12", "private_key_provider"],
  [`${tls}.CertificateValidationContext`]: ["verify_certificate_hash", "verify_certificate_spki"],
};

/** Fields that are nearly always set, and are required. */
const usual: { readonly [typeName: string]: readonly string[] } = {
  [`${core}.TransportSocket`]: ["typed_config"],
  "envoy.config.accesslog.v3.AccessLog": ["typed_config"],
  [`${endpoint}.Endpoint`]: ["address"],
  [`${endpoint}.LbEndpoint`]: ["endpoint"],
  [`${listener}.Filter`]: ["typed_config"],
  [`${listener}.ListenerFilter`]: ["typed_config"],
  [`${manager}.HttpFilter`]: ["typed_config"],
  [`${tls}.TlsCertificate`]: ["certificate_chain", "private_key"],
};

const none: readonly string[] = [];

/** Fields that send a message of this type to the explaining readers. */
export function seldomFields(typeName: string): readonly string[] {
  return seldom[typeName] ?? none;
}

/** Fields without which a message of this type goes to the explaining readers. */
export function usualFields(typeName: string): readonly string[] {
  return usual[typeName] ?? none;
}

/** Whether a field must be an IP address where nobody resolves names. */
export function holdsAddress(typeName: string, field: string): boolean {
  return typeName === `${core}.SocketAddress` && field === "address";
}

/** Values of Cluster.DiscoveryType that resolve names. */
const resolving: readonly unknown[] = ["STRICT_DNS", 1, "LOGICAL_DNS", 2];

/** Whether a resource in JSON must not contain host names as addresses. */
export function mustHoldNumbers(typeName: string, fields: { readonly [key: string]: unknown }): boolean {
  // An extension may resolve names, as `envoy.clusters.dns` does.
  if (typeName === cluster) return !resolving.includes(fields.type) && !(fields.cluster_type ?? fields.clusterType);
  return typeName === `${endpoint}.ClusterLoadAssignment` || typeName === `${listener}.Listener`;
}
