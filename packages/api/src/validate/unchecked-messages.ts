const extensions = "envoy.extensions.";

/**
 * Messages that Envoy 1.40 does not check by the rules of their protos, since its extensions unpack their configuration
 * themselves. The corpus shows it: resources that break their rules are accepted. A violation is only a warning, since
 * such a resource may be in use.
 */
const unchecked: ReadonlySet<string> = new Set(
  [
    "access_loggers.filters.process_ratelimit.v3.DynamicTokenBucket",
    "health_checkers.udp.v3.UdpHealthCheck",
    "http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig",
    "http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config",
    "internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig",
    "internal_redirect.filter_state.v3.FilterStateConfig",
    "load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin",
    "load_balancing_policies.common.v3.ConsistentHashingLbConfig",
    "load_balancing_policies.common.v3.LocalityLbConfig",
    "load_balancing_policies.common.v3.OrcaOobReportingConfig",
    "load_balancing_policies.least_request.v3.LeastRequest",
    "load_balancing_policies.ring_hash.v3.RingHash",
    "load_balancing_policies.subset.v3.Subset",
    "load_balancing_policies.subset.v3.Subset.LbSubsetSelector",
    "matching.common_inputs.transport_socket.v3.EndpointMetadataInput",
    "matching.common_inputs.transport_socket.v3.EndpointMetadataInput.PathSegment",
    "matching.common_inputs.transport_socket.v3.FilterStateInput",
    "matching.common_inputs.transport_socket.v3.LocalityMetadataInput",
    "matching.common_inputs.transport_socket.v3.LocalityMetadataInput.PathSegment",
    "matching.common_inputs.transport_socket.v3.TransportSocketNameAction",
    "network.dns_resolver.cares.v3.CaresDnsResolverConfig",
    "network.dns_resolver.hickory.v3.DnsOverHttpsConfig",
    "network.dns_resolver.hickory.v3.DnsOverTlsConfig",
    "network.dns_resolver.hickory.v3.HickoryDnsResolverConfig",
    "quic.connection_debug_visitor.quic_stats.v3.Config",
    "retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
  ].map((name) => `${extensions}${name}`),
);

/** Whether Envoy accepts a message of the type even if it breaks a rule of its proto. */
export function isUnchecked(typeName: string): boolean {
  return unchecked.has(typeName);
}
