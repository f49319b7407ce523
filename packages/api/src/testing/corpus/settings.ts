import type { JsonObject } from "@bufbuild/protobuf";

/** The types of the corpus's resources. A message that several of them lead to is reached from the nearest. */
export const rootTypes: readonly string[] = [
  "envoy.config.endpoint.v3.ClusterLoadAssignment",
  "envoy.config.route.v3.RouteConfiguration",
  "envoy.config.cluster.v3.Cluster",
  "envoy.config.listener.v3.Listener",
  "envoy.config.route.v3.ScopedRouteConfiguration",
  "envoy.extensions.transport_sockets.tls.v3.Secret",
  "envoy.service.runtime.v3.Runtime",
];

/** Fields whose messages are reached another way wherever there is one. */
export const detours: ReadonlySet<string> = new Set([
  "envoy.config.listener.v3.Listener.api_listener",
  "envoy.config.listener.v3.Listener.address",
  "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport.MetadataValueSource.kind",
  "envoy.config.cluster.v3.Cluster.load_assignment",
  // Envoy does not look into it there.
  "envoy.config.route.v3.RouteConfiguration.typed_per_filter_config",
  "envoy.config.cluster.v3.Cluster.typed_dns_resolver_config",
]);

/** A change that a resource needs elsewhere if it has one of these messages, fields or extensions. */
export interface Adjustment {
  /** The resource's message. */
  readonly of: string;
  readonly at: readonly string[];
  readonly adjust: (resource: JsonObject) => void;
}

const cluster = "envoy.config.cluster.v3.Cluster";
const listener = "envoy.config.listener.v3.Listener";
const ext = "envoy.extensions.";
const hcm = `${ext}filters.network.http_connection_manager.v3.HttpConnectionManager`;

const upstreamTls: JsonObject = {
  name: "envoy.transport_sockets.tls",
  typed_config: {
    "@type": `type.googleapis.com/${ext}transport_sockets.tls.v3.UpstreamTlsContext`,
    sni: "example.org",
  },
};
const upstreamQuic: JsonObject = {
  name: "envoy.transport_sockets.quic",
  typed_config: {
    "@type": `type.googleapis.com/${ext}transport_sockets.quic.v3.QuicUpstreamTransport`,
    upstream_tls_context: { sni: "example.org" },
  },
};
const http2: JsonObject = {
  [`${ext}upstreams.http.v3.HttpProtocolOptions`]: {
    "@type": `type.googleapis.com/${ext}upstreams.http.v3.HttpProtocolOptions`,
    explicit_http_config: { http2_protocol_options: {} },
  },
};
/** Envoy always binds UDP: to an address that nobody else is likely to use. */
const udpAddress = { socket_address: { protocol: "UDP", address: "127.83.71.59", port_value: "$PORT" } };

const secret = "envoy.extensions.transport_sockets.tls.v3.Secret";
const routes = "envoy.config.route.v3.RouteConfiguration";

/** The name under which the judges subscribe to a secret of that kind. */
const secretNamed = (arm: string, name: string): Adjustment => ({
  of: secret,
  at: [`${secret}.${arm}`],
  adjust: (resource) => {
    resource.name = name;
  },
});

export const adjustments: readonly Adjustment[] = [
  secretNamed("tls_certificate", "certificate"),
  secretNamed("validation_context", "validation"),
  secretNamed("session_ticket_keys", "tickets"),
  {
    of: routes,
    at: ["envoy.path.rewrite.uri_template.uri_template_rewriter"],
    adjust: (resource) => {
      const [host] = resource.virtual_hosts as { routes: { match: JsonObject }[] }[];
      host!.routes[0]!.match = {
        path_match_policy: {
          name: "envoy.path.match.uri_template.uri_template_matcher",
          typed_config: {
            "@type": `type.googleapis.com/${ext}path.match.uri_template.v3.UriTemplateMatchConfig`,
            path_template: "/a/{b}",
          },
        },
      };
    },
  },
  {
    of: routes,
    at: ["envoy.config.route.v3.RouteAction.cluster_specifier_plugin"],
    adjust: (resource) => {
      resource.cluster_specifier_plugins = [
        {
          extension: {
            name: "text",
            typed_config: {
              "@type": `type.googleapis.com/${ext}router.cluster_specifiers.lua.v3.LuaConfig`,
              source_code: { inline_string: "function envoy_on_route(handle)\n  return 'backend'\nend\n" },
            },
          },
        },
      ];
    },
  },
  {
    of: listener,
    at: [`${hcm}.codec_type = HTTP3`],
    adjust: (resource) => {
      resource.address = udpAddress;
      delete resource.bind_to_port;
      resource.udp_listener_config = { quic_options: {} };
      quic(resource);
    },
  },
  {
    of: cluster,
    at: [
      "envoy.clusters.aggregate",
      "envoy.clusters.composite",
      "envoy.clusters.dynamic_forward_proxy",
      "envoy.clusters.redis",
      "envoy.cluster.original_dst",
      "envoy.clusters.reverse_connection",
      "envoy.clusters.mcp_multicluster",
    ],
    adjust: (resource) => {
      resource.lb_policy = "CLUSTER_PROVIDED";
    },
  },
  {
    of: cluster,
    at: [
      `${ext}upstreams.http.v3.HttpProtocolOptions.auto_config`,
      "envoy.config.core.v3.HealthCheck.HttpHealthCheck.use_alpn_protocol",
    ],
    adjust: (resource) => {
      resource.transport_socket = upstreamTls;
    },
  },
  {
    of: cluster,
    at: [
      `${ext}upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig.http3_protocol_options`,
      `${ext}upstreams.http.v3.HttpProtocolOptions.UseDownstreamHttpConfig.http3_protocol_options`,
    ],
    adjust: (resource) => {
      resource.transport_socket = upstreamQuic;
    },
  },
  {
    of: cluster,
    at: ["envoy.config.core.v3.HealthCheck.grpc_health_check"],
    adjust: (resource) => {
      resource.typed_extension_protocol_options = http2;
    },
  },
  {
    of: listener,
    at: [
      "envoy.filters.udp_listener.udp_proxy",
      "envoy.filters.udp.dns_filter",
      "envoy.filters.udp_listener.dynamic_modules",
    ],
    adjust: (resource) => {
      resource.address = udpAddress;
      delete resource.bind_to_port;
      delete resource.filter_chains;
    },
  },
  {
    of: listener,
    at: [`${listener}.udp_listener_config`],
    adjust: (resource) => {
      resource.address = udpAddress;
      delete resource.bind_to_port;
      quic(resource);
    },
  },
  {
    of: listener,
    at: ["envoy.transport_sockets.quic", `${hcm}.http3_protocol_options`],
    adjust: (resource) => {
      resource.address = udpAddress;
      delete resource.bind_to_port;
      resource.udp_listener_config ??= { quic_options: {} };
      quic(resource);
    },
  },
];

/** Completes a listener of QUIC; one without QUIC options becomes a UDP proxy. */
function quic(resource: JsonObject): void {
  const options = resource.udp_listener_config as JsonObject;
  if (typeof options !== "object" || !("quic_options" in options)) {
    delete resource.filter_chains;
    resource.listener_filters = [
      {
        name: "envoy.filters.udp_listener.udp_proxy",
        typed_config: {
          "@type": `type.googleapis.com/${ext}filters.udp.udp_proxy.v3.UdpProxyConfig`,
          stat_prefix: "text",
          cluster: "backend",
        },
      },
    ];
    return;
  }
  const [chain] = resource.filter_chains as JsonObject[];
  if (chain === undefined) return;
  chain.transport_socket ??= {
    name: "envoy.transport_sockets.quic",
    typed_config: {
      "@type": `type.googleapis.com/${ext}transport_sockets.quic.v3.QuicDownstreamTransport`,
      downstream_tls_context: {
        common_tls_context: {
          tls_certificates: [
            { certificate_chain: { inline_string: "$CERTIFICATE" }, private_key: { inline_string: "$KEY" } },
          ],
        },
      },
    },
  };
  const [filter] = (chain.filters ?? []) as { typed_config?: JsonObject }[];
  const manager = filter?.typed_config?.["@type"] === `type.googleapis.com/${hcm}` ? filter.typed_config : undefined;
  chain.filters = [
    {
      name: "envoy.filters.network.http_connection_manager",
      typed_config: {
        "@type": `type.googleapis.com/${hcm}`,
        stat_prefix: "http",
        route_config: { name: "inline" },
        http_filters: [
          {
            name: "envoy.filters.http.router",
            typed_config: { "@type": `type.googleapis.com/${ext}filters.http.router.v3.Router` },
          },
        ],
        ...manager,
        codec_type: "HTTP3",
      },
    },
  ];
}
