import {
  chains,
  cors,
  extension,
  type Fields,
  http,
  inChain,
  listener,
  manager,
  type Refused,
  range,
  rbac,
  router,
  socket,
  tcp,
  testRefusals,
  tls,
  url,
} from "../../../testing/refusals.js";

const rds = (config_source: Fields) =>
  listener({
    filter_chains: [
      { filters: [manager({ route_config: undefined, rds: { route_config_name: "r", config_source } })] },
    ],
  });
const api = (api_type: string, more: Fields = {}) => rds({ api_config_source: { api_type, ...more } });
const apiSource = `${inChain}.rds.config_source.api_config_source`;
const services = { grpc_services: [{ envoy_grpc: { cluster_name: "c" } }] };
const clusters = { cluster_names: ["c"] };
const udp = socket("10.0.0.1", { protocol: "UDP" });
const dnsFilter = extension("filters.udp.dns_filter.v3.DnsFilterConfig", {
  stat_prefix: "a",
  server_config: { inline_dns_table: {} },
});
const tlsInspector = extension("filters.listener.tls_inspector.v3.TlsInspector");
const codec = extension("filters.http.upstream_codec.v3.UpstreamCodec");
const mutation = extension("filters.http.header_mutation.v3.HeaderMutation");
const upstream = (...upstream_http_filters: readonly Fields[]) =>
  http({ http_filters: [extension("filters.http.router.v3.Router", { upstream_http_filters })] });
const inRouter = `${inChain}.http_filters[0].typed_config.upstream_http_filters`;

const refused: readonly Refused[] = [
  [rds({ self: {} }), `~${inChain}.rds.config_source.self`, /gRPC's clients accept it/],
  [api("GRPC"), `${apiSource}.grpc_services`, /where the server is/],
  [api("DELTA_GRPC", { ...services, ...clusters }), `${apiSource}.cluster_names`, /gRPC/],
  [api("REST", services), `${apiSource}.grpc_services`, /REST/],
  [api("REST"), `${apiSource}.cluster_names`],
  [api("REST", clusters), `${apiSource}.refresh_delay`],
  [api("AGGREGATED_GRPC", services), `${apiSource}.api_type`, /ads/],
  [listener({ filter_chains: [{ filters: [tcp] }], listener_filters: [dnsFilter] }), "listener_filters[0]", /for UDP/],
  [listener({ ...udp, listener_filters: [tlsInspector] }), "listener_filters[0]", /for TCP/],
  [upstream(mutation), `${inRouter}[0]`, /another filter must follow/],
  [upstream(codec, codec), `${inRouter}[0]`, /must be the last filter/],
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
  [http({ http_filters: [cors] }), `${inChain}.http_filters[0]`, /must follow/],
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
];

const taken: readonly Fields[] = [
  rds({ ads: {} }),
  ...["GRPC", "DELTA_GRPC", "AGGREGATED_DELTA_GRPC"].map((type) => api(type, services)),
  api("REST", { ...clusters, refresh_delay: "1s" }),
  listener({ filter_chains: [{ filters: [tcp] }], listener_filters: [tlsInspector] }),
  listener({ ...udp, listener_filters: [dnsFilter] }),
  upstream(mutation, codec),
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
  // The check ignores duplicates of names that are longer than a client can send.
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
];

testRefusals("listeners", refused, taken);
