import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readResources } from "../../files/resource-file.js";

type Fields = Readonly<Record<string, unknown>>;

const url = (type: string) => `type.googleapis.com/envoy.${type}`;
const socket = (address: string, more: Fields = {}) => ({
  address: { socket_address: { address, port_value: 80, ...more } },
});
const endpoint = (address: string, more: Fields = {}) => ({ endpoint: socket(address, more) });
const endpoints = (...lb_endpoints: readonly Fields[]) => ({
  load_assignment: { cluster_name: "a", endpoints: [{ lb_endpoints }] },
});
const extension = (type: string, fields: Fields = {}) => ({
  name: type,
  typed_config: { "@type": url(`extensions.${type}`), ...fields },
});

const cluster = (fields: Fields): Fields => ({ "@type": url("config.cluster.v3.Cluster"), name: "a", ...fields });
const assignment = (fields: Fields): Fields => ({
  "@type": url("config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: "a",
  ...fields,
});
const listener = (fields: Fields): Fields => ({
  "@type": url("config.listener.v3.Listener"),
  name: "a",
  ...socket("10.0.0.1"),
  ...fields,
});
const tcp = extension("filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "a", cluster: "a" });
const router = extension("filters.http.router.v3.Router");
const cors = extension("filters.http.cors.v3.Cors");
const chains = (...matches: readonly (Fields | undefined)[]) =>
  listener({
    filter_chains: matches.map((match) => ({
      ...(match === undefined ? {} : { filter_chain_match: match }),
      filters: [tcp],
    })),
  });
const manager = (fields: Fields) =>
  extension("filters.network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: "a",
    http_filters: [router],
    ...("scoped_routes" in fields ? {} : { route_config: { name: "a" } }),
    ...fields,
  });
const http = (fields: Fields) => listener({ filter_chains: [{ filters: [manager(fields)] }] });
const routes = (fields: Fields): Fields => ({
  "@type": url("config.route.v3.RouteConfiguration"),
  name: "a",
  ...fields,
});
const host = (fields: Fields) => routes({ virtual_hosts: [{ name: "a", domains: ["*"], ...fields }] });
const route = (fields: Fields) =>
  host({
    routes: [
      { match: { prefix: "/" }, ...("direct_response" in fields ? {} : { route: { cluster: "a" } }), ...fields },
    ],
  });
const action = (fields: Fields) =>
  route({ route: { ...("weighted_clusters" in fields ? {} : { cluster: "a" }), ...fields } });
const rbac = (policy: Fields) =>
  listener({
    filter_chains: [
      {
        filters: [
          extension("filters.network.rbac.v3.RBAC", {
            stat_prefix: "a",
            rules: { policies: { p: { permissions: [{ any: true }], principals: [{ any: true }], ...policy } } },
          }),
          tcp,
        ],
      },
    ],
  });
const tls = (side: "Upstream" | "Downstream", common: Fields | undefined) => ({
  name: "tls",
  typed_config: {
    "@type": url(`extensions.transport_sockets.tls.v3.${side}TlsContext`),
    ...(common === undefined ? {} : { common_tls_context: common }),
  },
});
const health = (fields: Fields) => ({
  health_checks: [{ timeout: "1s", interval: "1s", unhealthy_threshold: 1, healthy_threshold: 1, ...fields }],
});
const range = (address_prefix: string, prefix_len?: number) => ({ address_prefix, prefix_len });
const roundRobin = {
  policies: [{ typed_extension_config: extension("load_balancing_policies.round_robin.v3.RoundRobin") }],
};
const eds = { type: "EDS", eds_cluster_config: { eds_config: { ads: {} } } };
const original = { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" };
const header = (key: string, value = "b", more: Fields = {}) => ({ header: { key, value }, ...more });
const first = "virtual_hosts[0].routes[0]";
const inChain = "filter_chains[0].filters[0].typed_config";

/** What is refused, with its field and a part of what is said of it; a `~` in front: a warning. */
const refused: readonly (readonly [Fields, string, RegExp?])[] = [
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
    /gRPC's clients take it/,
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
  [
    listener({ filter_chains: [{ filters: [tcp], transport_socket: tls("Downstream", {}) }] }),
    "filter_chains[0].transport_socket.typed_config.common_tls_context",
    /certificate/,
  ],
  [{ "@type": url("config.listener.v3.Listener"), name: "a", filter_chains: [{}] }, "", /needs an address/],
  [listener({}), "", /filter_chains/],
  [listener({ internal_listener: {}, filter_chains: [{}] }), "address"],
  [
    {
      "@type": url("config.listener.v3.Listener"),
      name: "a",
      internal_listener: {},
      freebind: true,
      filter_chains: [{}],
    },
    "freebind",
  ],
  [listener({ ...socket("a.b"), filter_chains: [{}] }), "address.socket_address.address"],
  [
    listener({ address: { envoy_internal_address: { server_listener_name: "x" } }, filter_chains: [{}] }),
    "address.envoy_internal_address",
  ],
  [
    listener({ ...socket("10.0.0.1", { ipv4_compat: true }), filter_chains: [{}] }),
    "address.socket_address.ipv4_compat",
  ],
  [listener({ additional_addresses: [{}], filter_chains: [{}] }), "additional_addresses[0].address"],
  [
    listener({ additional_addresses: [socket("10.0.0.1", { protocol: "UDP" })], filter_chains: [{}] }),
    "additional_addresses[0].address",
  ],
  [listener({ ...socket("10.0.0.1", { protocol: "UDP" }), filter_chains: [{}] }), "filter_chains"],
  [listener({ ...socket("10.0.0.1", { protocol: "UDP" }), bind_to_port: false }), "bind_to_port"],
  [chains(undefined, {}), "filter_chains[1].filter_chain_match", /filter_chains\[0\]/],
  [chains({ server_names: ["a", "b"] }, { server_names: ["B"] }), "filter_chains[1].filter_chain_match"],
  [
    chains({ prefix_ranges: [range("10.0.0.1", 8)] }, { prefix_ranges: [range("10.9.0.0", 8)] }),
    "filter_chains[1].filter_chain_match",
  ],
  [chains({ source_ports: [1, 1] }), "filter_chains[0].filter_chain_match", /twice/],
  [
    chains({ prefix_ranges: [range("10.0.0.0/8")] }),
    "filter_chains[0].filter_chain_match.prefix_ranges[0].address_prefix",
  ],
  [chains({ server_names: ["*a.b"] }), "filter_chains[0].filter_chain_match.server_names[0]"],
  [chains({ address_suffix: "a" }), "filter_chains[0].filter_chain_match.address_suffix"],
  [listener({ filter_chains: [{ filters: [tcp, tcp] }] }), "filter_chains[0].filters[0]", /last/],
  [
    listener({ filter_chains: [{ filters: [{ name: "envoy.filters.network.tcp_proxy" }] }] }),
    "filter_chains[0].filters[0]",
    /typed_config/,
  ],
  [http({ http_filters: [cors] }), `${inChain}.http_filters[0]`, /behind/],
  [http({ http_filters: [{ ...router, disabled: true }] }), `${inChain}.http_filters[0].disabled`],
  [http({ strip_matching_host_port: true, strip_any_host_port: true }), `${inChain}.strip_any_host_port`],
  [
    http({ upgrade_configs: [{ upgrade_type: "websocket" }, { upgrade_type: "WebSocket" }] }),
    `${inChain}.upgrade_configs[1].upgrade_type`,
  ],
  [
    http({ internal_address_config: { cidr_ranges: [range("a", 8)] } }),
    `${inChain}.internal_address_config.cidr_ranges[0].address_prefix`,
  ],
  [
    rbac({ principals: [{ not_id: { remote_ip: range("a", 8) } }] }),
    `${inChain}.rules.policies["p"].principals[0].not_id.remote_ip.address_prefix`,
  ],
  [
    rbac({ permissions: [{ destination_port_range: { start: 5, end: 5 } }] }),
    `${inChain}.rules.policies["p"].permissions[0].destination_port_range`,
  ],
  [
    action({ weighted_clusters: { clusters: [{ name: "a", weight: 0 }] } }),
    `${first}.route.weighted_clusters.clusters`,
  ],
  [
    action({
      weighted_clusters: {
        clusters: [
          { name: "a", weight: 4294967295 },
          { name: "b", weight: 1 },
        ],
      },
    }),
    `${first}.route.weighted_clusters.clusters`,
    /4294967296/,
  ],
  [action({ weighted_clusters: { clusters: [{ weight: 1 }] } }), `${first}.route.weighted_clusters.clusters[0]`],
  [
    action({ weighted_clusters: { clusters: [{ name: "a", weight: 1 }, { name: "b" }] } }),
    `~${first}.route.weighted_clusters.clusters[1]`,
  ],
  [
    action({ prefix_rewrite: "/a", regex_rewrite: { pattern: { regex: "a" }, substitution: "" } }),
    `${first}.route.regex_rewrite`,
  ],
  [action({ request_mirror_policies: [{}] }), `${first}.route.request_mirror_policies[0]`],
  [
    action({ upgrade_configs: [{ upgrade_type: "websocket", connect_config: {} }] }),
    `${first}.route.upgrade_configs[0].connect_config`,
  ],
  [
    action({ retry_policy: { retry_back_off: { base_interval: "2s", max_interval: "1s" } } }),
    `~${first}.route.retry_policy.retry_back_off.max_interval`,
  ],
  [
    route({ direct_response: { status: 200, body: { inline_string: "é".repeat(2049) } } }),
    `${first}.direct_response.body`,
    /4098/,
  ],
  [route({ request_headers_to_add: [header(":path")] }), `${first}.request_headers_to_add[0].header.key`],
  [route({ response_headers_to_add: [header("a", "100%")] }), `${first}.response_headers_to_add[0].header.value`],
  [
    route({ request_headers_to_add: [header("a", "b", { append: true, append_action: "OVERWRITE_IF_EXISTS" })] }),
    `${first}.request_headers_to_add[0].append`,
  ],
  [routes({ request_headers_to_remove: ["HOST"] }), "request_headers_to_remove[0]"],
  [host({ virtual_clusters: [{ name: "a" }] }), "virtual_hosts[0].virtual_clusters[0].headers"],
  [
    host({
      matcher: {
        on_no_match: {
          action: {
            name: "a",
            typed_config: { "@type": url("config.route.v3.Route"), match: { prefix: "/" }, redirect: {} },
          },
        },
      },
      routes: [{ match: { prefix: "/" }, redirect: {} }],
    }),
    "virtual_hosts[0].matcher",
  ],
];

const taken: readonly Fields[] = [
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
  listener({ api_listener: { api_listener: manager({ http_filters: [cors] }).typed_config }, filter_chains: [{}, {}] }),
  {
    "@type": url("config.listener.v3.Listener"),
    name: "a",
    api_listener: { api_listener: manager({ strip_matching_host_port: true, strip_any_host_port: true }).typed_config },
  },
  { "@type": url("config.listener.v3.Listener"), name: "a", internal_listener: {}, default_filter_chain: {} },
  listener(socket("10.0.0.1", { protocol: "UDP" })),
  listener({ ...socket("::ffff:10.0.0.1", { ipv4_compat: true }), filter_chains: [{}] }),
  chains({ server_names: ["*.a"] }, { server_names: ["a"] }, { transport_protocol: "tls" }, {}),
  // Of names that are longer than any that a client can send, nobody looks whether they are there twice.
  chains({ server_names: ["a".repeat(256)] }, { server_names: ["a".repeat(256)] }),
  chains({ server_names: ["1"], source_ports: [2, 12] }, { server_names: ["2"], source_ports: [1, 12] }),
  chains(
    { prefix_ranges: [range("10.0.0.0", 8)] },
    { prefix_ranges: [range("10.0.0.0", 16)] },
    { prefix_ranges: [range("0.0.0.0", 0)] },
    {},
  ),
  chains({ prefix_ranges: [range("fe80::1%eth0", 128)] }, { prefix_ranges: [range("fe80::1", 128)] }),
  http({
    http_filters: [
      cors,
      { ...cors, typed_config: undefined, config_discovery: { config_source: { ads: {} }, type_urls: ["a/b"] } },
      router,
    ],
  }),
  http({ http_filters: [] }),
  route({ request_headers_to_add: [header("host-x", "100%% %REQ(:path?x)% %START_TIME(%s)%")] }),
  action({
    weighted_clusters: {
      clusters: [
        { name: "a", weight: 4294967294 },
        { cluster_header: "b", weight: 1 },
      ],
    },
  }),
  routes({
    max_direct_response_body_size_bytes: 0,
    virtual_hosts: [
      {
        name: "a",
        domains: ["*"],
        routes: [{ match: { prefix: "/" }, direct_response: { status: 200, body: { inline_string: "a" } } }],
      },
    ],
  }),
];

/** What is said of a resource, whose fields have either of their names in JSON. */
function findings(resource: Fields, envoy?: boolean): readonly { readonly field: string; readonly message: string }[] {
  const said = [resource, withJsonNames(resource)].map((fields) => {
    const bytes = Buffer.from(JSON.stringify([{ ...fields, name: fields.name }], undefined, 1));
    const { findings } = readResources({ path: "a.json", bytes }, { envoy });
    return findings.map(({ field = "", severity, message, code }) => {
      assert.equal(code, "XDSKIT_CLIENTS_REFUSE", `${field}: ${message}`);
      return { field: `${severity === "warning" ? "~" : ""}${field}`, message };
    });
  });
  assert.deepEqual(said[0], said[1]);
  return said[0] ?? [];
}

function withJsonNames(value: unknown): Fields {
  if (Array.isArray(value)) return value.map(withJsonNames) as unknown as Fields;
  if (typeof value !== "object" || value === null) return value as Fields;
  const renamed = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [renamed(name), withJsonNames(item)]));
}

suite("what Envoy refuses by itself", () => {
  test("is said with its field", () => {
    for (const [resource, field, message = /./] of refused) {
      const found = findings(resource);
      assert.deepEqual(
        found.map((finding) => finding.field),
        [field],
        JSON.stringify(resource),
      );
      assert.match(found[0]?.message ?? "", message);
    }
  });

  test("is said in a few words of whatever length a value is", () => {
    const long = "%".repeat(200_000);
    const twice = [{ upgrade_type: long }, { upgrade_type: long }];
    const chain = { name: long, filters: [tcp] };
    for (const resource of [
      cluster({ type: "STATIC", ...endpoints(endpoint(long)) }),
      cluster({ upstream_bind_config: { source_address: { address: long, port_value: 0 } } }),
      cluster({ type: "STRICT_DNS", ...endpoints(endpoint("a.b")), dns_resolvers: [socket(long).address] }),
      chains({ prefix_ranges: [range(long)] }),
      chains({ server_names: [`${long}*`] }),
      listener({ filter_chain_matcher: {}, filter_chains: [chain, chain] }),
      action({ upgrade_configs: twice }),
      route({ request_headers_to_add: [header(`:${"a".repeat(15_000)}`)] }),
      route({ request_headers_to_remove: [`:${"a".repeat(15_000)}`] }),
    ]) {
      const found = findings(resource);
      assert.ok(found.length > 0, JSON.stringify(resource).slice(0, 500));
      for (const { message } of found) {
        assert.ok(message.length < 300, message.slice(0, 500));
        assert.match(message, /…"/);
      }
    }
  });

  test("is nothing of what it takes, and nothing of what gRPC's clients read", () => {
    for (const resource of taken) assert.deepEqual(findings(resource), [], JSON.stringify(resource));
  });

  test("is not asked of those who are no Envoy", () => {
    for (const [resource] of refused) assert.deepEqual(findings(resource, false), []);
  });
});
