import {
  assignment,
  cluster,
  eds,
  endpoint,
  endpoints,
  extension,
  type Fields,
  health,
  original,
  type Refused,
  roundRobin,
  socket,
  testRefusals,
  tls,
  url,
} from "../../../testing/refusals.js";

const checks = (...names: readonly string[]) => ({
  health_checks: names.flatMap((name) => health({ name, tcp_health_check: {} }).health_checks),
});

const lbEndpoint = url("config.endpoint.v3.LbEndpoint");
const list = (...entries: readonly Fields[]): Fields => ({
  "@type": url("service.discovery.v3.Resource"),
  name: "list",
  resource: { "@type": url("config.endpoint.v3.LbEndpointCollection"), entries },
});
const leds = (leds_config: Fields, leds_collection_name: string) =>
  assignment({ endpoints: [{ leds_cluster_locality_config: { leds_config, leds_collection_name } }] });

const refused: readonly Refused[] = [
  [cluster(checks("a", "")), "health_checks[1].name", /several health checks/],
  [cluster(checks("a", "b", "a")), "health_checks[2].name", /"a" is there twice/],
  [cluster({ ...eds, ...checks("", "b") }), "~health_checks[0].name", /gRPC/],
  [
    {
      "@type": url("service.discovery.v3.Resource"),
      name: "one",
      resource: { "@type": url("config.endpoint.v3.LbEndpoint"), ...endpoint("localhost") },
    },
    "endpoint.address.socket_address.address",
    /"localhost".*LEDS/,
  ],
  [
    list({ locator: { id: "a", resource_type: "envoy.config.endpoint.v3.LbEndpoint" } }),
    "entries[0].locator",
    /inline_entry/,
  ],
  [list({ inline_entry: {} }), "entries[0].inline_entry.resource", /LbEndpoint/],
  [
    list({ inline_entry: { resource: cluster({}) } }),
    "entries[0].inline_entry.resource",
    /LbEndpoint, not .*config\.cluster\.v3\.Cluster/,
  ],
  [
    list({ inline_entry: { resource: { "@type": lbEndpoint } } }),
    "entries[0].inline_entry.resource",
    /needs an endpoint with an address/,
  ],
  [
    list({ inline_entry: { resource: { "@type": lbEndpoint, ...endpoint("localhost") } } }),
    "entries[0].inline_entry.resource.endpoint.address.socket_address.address",
    /"localhost".*LEDS/,
  ],
  // A member of any list is a resource of its type.
  [
    {
      "@type": url("service.discovery.v3.Resource"),
      name: "list",
      resource: {
        "@type": url("config.cluster.v3.ClusterCollection"),
        entries: { inline_entry: { name: "a", resource: cluster({ type: "EDS" }) } },
      },
    },
    "entries.inline_entry.resource.type",
    /eds_config/,
  ],
  [leds({ ads: {} }, "web"), "endpoints[0].leds_cluster_locality_config.leds_config", /self/],
  [leds({ self: {} }, "web"), "~endpoints[0].leds_cluster_locality_config.leds_collection_name", /gRPC/],
  [
    cluster({ ...endpoints(endpoint("a.b")) }),
    "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address",
    /"a\.b".*STRICT_DNS/,
  ],
  [
    cluster({ type: "STATIC", ...endpoints(endpoint("01.2.3.4")) }),
    "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address",
  ],
  [cluster({ type: "STATIC", ...endpoints({}) }), "load_assignment.endpoints[0].lb_endpoints[0]"],
  [
    cluster({ type: "STATIC", ...endpoints({ endpoint: { address: { pipe: { path: `/${"é".repeat(54)}` } } } }) }),
    "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.pipe.path",
    /109 bytes/,
  ],
  [
    assignment({ endpoints: [{ lb_endpoints: [endpoint("10.0.0.1"), endpoint("localhost")] }] }),
    "endpoints[0].lb_endpoints[1].endpoint.address.socket_address.address",
    /"localhost"/,
  ],
  [
    assignment({
      endpoints: [{ lb_endpoints: [{ endpoint: { ...socket("::1"), additional_addresses: [socket("a.b")] } }] }],
    }),
    "endpoints[0].lb_endpoints[0].endpoint.additional_addresses[0].address.socket_address.address",
  ],
  [
    assignment({
      endpoints: [{ lb_endpoints: [{ endpoint: { ...socket("::1"), health_check_config: socket("a.b") } }] }],
    }),
    "endpoints[0].lb_endpoints[0].endpoint.health_check_config.address.socket_address.address",
  ],
  [
    assignment({
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "10.0.0.1", named_port: "http" } } } }] },
      ],
    }),
    "endpoints[0].lb_endpoints[0].endpoint.address.socket_address.named_port",
  ],
  [cluster({ type: "EDS" }), "type", /eds_config/],
  [cluster({ type: "EDS", eds_cluster_config: { service_name: "b" } }), "type"],
  [cluster({ type: "LOGICAL_DNS" }), "type", /exactly one endpoint/],
  [
    cluster({ type: "LOGICAL_DNS", ...endpoints(endpoint("a.b"), endpoint("c.d")) }),
    "load_assignment",
    /has 2 in 1 locality/,
  ],
  [
    cluster({ type: "STRICT_DNS", ...endpoints(endpoint("a.b", { resolver_name: "envoy.ip" })) }),
    "load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.resolver_name",
  ],
  [cluster({ type: "ORIGINAL_DST" }), "lb_policy", /CLUSTER_PROVIDED/],
  [cluster({ ...original, load_assignment: { cluster_name: "a" } }), "load_assignment"],
  [
    cluster({ ...original, original_dst_lb_config: { http_header_name: "x" } }),
    "original_dst_lb_config.http_header_name",
  ],
  [cluster({ ...eds, lb_policy: "CLUSTER_PROVIDED" }), "lb_policy"],
  [cluster({ lb_policy: "LOAD_BALANCING_POLICY_CONFIG" }), "lb_policy"],
  [cluster({ load_balancing_policy: {} }), "load_balancing_policy"],
  [cluster({ load_balancing_policy: roundRobin, lb_subset_config: {} }), "lb_subset_config"],
  [
    cluster({ ...eds, load_balancing_policy: roundRobin, common_lb_config: { locality_weighted_lb_config: {} } }),
    "~common_lb_config.locality_weighted_lb_config",
    /gRPC's clients accept it/,
  ],
  [
    cluster({ lb_policy: "CLUSTER_PROVIDED", lb_subset_config: { subset_selectors: [{ keys: ["a"] }] } }),
    "lb_subset_config",
  ],
  [
    cluster({ common_lb_config: { consistent_hashing_lb_config: { use_hostname_for_hashing: true } } }),
    "common_lb_config.consistent_hashing_lb_config.use_hostname_for_hashing",
  ],
  [
    cluster({ lb_policy: "RING_HASH", ring_hash_lb_config: { maximum_ring_size: 1000 } }),
    "ring_hash_lb_config.maximum_ring_size",
    /1024/,
  ],
  [cluster({ lb_policy: "MAGLEV", maglev_lb_config: { table_size: 100 } }), "maglev_lb_config.table_size"],
  [
    cluster({ upstream_bind_config: { source_address: { address: "a.b", port_value: 0 } } }),
    "upstream_bind_config.source_address.address",
  ],
  [
    cluster({ upstream_bind_config: { extra_source_addresses: [{ address: { address: "::1", port_value: 0 } }] } }),
    "upstream_bind_config.extra_source_addresses",
  ],
  [
    cluster({ type: "STRICT_DNS", ...endpoints(endpoint("a.b")), dns_resolvers: [socket("c.d").address] }),
    "dns_resolvers[0].socket_address.address",
  ],
  [
    cluster({
      type: "STRICT_DNS",
      ...endpoints(endpoint("a.b")),
      dns_failure_refresh_rate: { base_interval: "2s", max_interval: "1s" },
    }),
    "dns_failure_refresh_rate.max_interval",
  ],
  [cluster({ outlier_detection: { max_ejection_time: "10s" } }), "outlier_detection.max_ejection_time", /30s/],
  [
    cluster({ ...eds, outlier_detection: { base_ejection_time: "20s", max_ejection_time: "10s" } }),
    "~outlier_detection.max_ejection_time",
  ],
  [cluster({ http_protocol_options: {}, http2_protocol_options: {} }), "http2_protocol_options"],
  [cluster(health({ grpc_health_check: {} })), "health_checks[0].grpc_health_check"],
  [cluster(health({ tcp_health_check: { send: { text: "abc" } } })), "health_checks[0].tcp_health_check.send.text"],
  [
    cluster(health({ http_health_check: { path: "/", expected_statuses: [{ start: 200, end: 200 }] } })),
    "health_checks[0].http_health_check.expected_statuses[0]",
  ],
  [
    cluster(health({ http_health_check: { path: "/", send: { text: "ab" } } })),
    "health_checks[0].http_health_check.send",
  ],
  [cluster({ transport_socket: { name: "raw_buffer" } }), "transport_socket", /typed_config/],
  [
    cluster({ transport_socket: tls("Upstream", { tls_certificates: [{}, {}] }) }),
    "transport_socket.typed_config.common_tls_context.tls_certificates",
  ],
  [
    cluster({
      transport_socket: tls("Upstream", {
        validation_context: { match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "a" } }] },
      }),
    }),
    "transport_socket.typed_config.common_tls_context.validation_context.match_typed_subject_alt_names",
  ],
  [
    cluster({
      transport_socket: tls("Upstream", { validation_context: { verify_certificate_hash: ["zz".repeat(32)] } }),
    }),
    "transport_socket.typed_config.common_tls_context.validation_context.verify_certificate_hash[0]",
  ],
  [
    cluster({ transport_socket: tls("Upstream", { tls_certificates: [{ certificate_chain: { filename: "/a" } }] }) }),
    "transport_socket.typed_config.common_tls_context.tls_certificates[0]",
    /private_key/,
  ],
];

const taken: readonly Fields[] = [
  list(),
  list({ inline_entry: { resource: { "@type": lbEndpoint, ...endpoint("10.0.0.1") } } }),
  leds({ ads: {} }, "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/web/*"),
  cluster(checks("")),
  cluster(checks("a", "A")),
  cluster({
    type: "STATIC",
    ...endpoints(endpoint("10.0.0.1"), endpoint("fe80::1%eth0"), endpoint("a.b", { resolver_name: "own" })),
  }),
  cluster({ type: "STRICT_DNS", ...endpoints(endpoint("a.b"), endpoint("c.d")) }),
  cluster({
    type: "STRICT_DNS",
    dns_resolvers: [socket("c.d").address],
    typed_dns_resolver_config: extension("network.dns_resolver.cares.v3.CaresDnsResolverConfig", {}),
  }),
  cluster({
    type: "LOGICAL_DNS",
    ...endpoints(endpoint("a.b")),
    dns_resolvers: [socket("c.d").address],
    dns_resolution_config: { resolvers: [socket("10.0.0.1").address] },
  }),
  cluster({ type: "LOGICAL_DNS", ...endpoints(endpoint("a.b")) }),
  cluster({ ...eds, load_assignment: { cluster_name: "a", endpoints: [{ lb_endpoints: [endpoint("a.b")] }] } }),
  cluster({ ...original }),
  cluster({
    cluster_type: extension("clusters.aggregate.v3.ClusterConfig", { clusters: ["b"] }),
    lb_policy: "CLUSTER_PROVIDED",
  }),
  cluster({ lb_policy: "RANDOM", ring_hash_lb_config: { minimum_ring_size: 2000, maximum_ring_size: 1000 } }),
];

testRefusals("clusters and load assignments", refused, taken);
