const ads = { ads: {}, resource_api_version: "V3", initial_fetch_timeout: "0.5s" };
const type = (name: string): string => `type.googleapis.com/${name}`;
const hcm = "envoy.extensions.filters.network.http_connection_manager.v3.";
const tls = "envoy.extensions.transport_sockets.tls.v3.";

const http2 = {
  "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
    "@type": type("envoy.extensions.upstreams.http.v3.HttpProtocolOptions"),
    explicit_http_config: { http2_protocol_options: {} },
  },
};

function cluster(name: string, host: string, port: number, isHttp2: boolean): object {
  const address = { socket_address: { address: host, port_value: port } };
  return {
    name,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    ...(isHttp2 ? { typed_extension_protocol_options: http2 } : {}),
  };
}

/** A listener that is never bound, for what its filters subscribe to. */
function listener(
  name: string,
  port: number,
  manager: object,
  filters: readonly object[] = [],
  socket?: object,
): object {
  const router = { name: "router", typed_config: { "@type": type("envoy.extensions.filters.http.router.v3.Router") } };
  const config = {
    "@type": type(`${hcm}HttpConnectionManager`),
    stat_prefix: name,
    http_filters: [...filters, router],
    ...manager,
  };
  return {
    name,
    address: { socket_address: { address: "127.0.0.1", port_value: port } },
    bind_to_port: false,
    filter_chains: [
      {
        filters: [{ name: "hcm", typed_config: config }],
        ...(socket === undefined ? {} : { transport_socket: socket }),
      },
    ],
  };
}

const secret = (name: string): object => ({ name, sds_config: ads });
const noRoutes = { route_config: { name: "none" } };
const downstreamTls = {
  name: "tls",
  typed_config: {
    "@type": type(`${tls}DownstreamTlsContext`),
    common_tls_context: {
      tls_certificate_sds_secret_configs: [secret("certificate")],
      validation_context_sds_secret_config: secret("validation"),
    },
    session_ticket_keys_sds_secret_config: secret("tickets"),
  },
};
const injector = {
  name: "injector",
  typed_config: {
    "@type": type("envoy.extensions.filters.http.credential_injector.v3.CredentialInjector"),
    credential: {
      name: "generic",
      typed_config: {
        "@type": type("envoy.extensions.http.injected_credentials.generic.v3.Generic"),
        credential: secret("generic"),
      },
    },
  },
};
const scopedRoutes = {
  name: "scopes",
  scope_key_builder: { fragments: [{ header_value_extractor: { name: "x-scope", element_separator: ",", index: 0 } }] },
  rds_config_source: ads,
  scoped_rds: { scoped_rds_config_source: ads },
};

/**
 * An Envoy that subscribes to each type of resource at one server, and has the clusters that resources of the corpus
 * name.
 */
export function judgeBootstrap(server: string): object {
  const [host = "", port = ""] = server.split(":");
  const assigned = {
    name: "assigned",
    type: "EDS",
    connect_timeout: "1s",
    eds_cluster_config: { eds_config: ads, service_name: "assigned" },
  };
  return {
    node: { id: "judge", cluster: "corpus" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    layered_runtime: { layers: [{ name: "rtds", rtds_layer: { name: "runtime", rtds_config: ads } }] },
    bootstrap_extensions: [
      {
        name: "envoy.bootstrap.internal_listener",
        typed_config: { "@type": type("envoy.extensions.bootstrap.internal_listener.v3.InternalListener") },
      },
      ...["upstream", "downstream"].map((side) => ({
        name: `envoy.bootstrap.reverse_tunnel.${side}_socket_interface`,
        typed_config: {
          "@type": type(
            `envoy.extensions.bootstrap.reverse_tunnel.${side}_socket_interface.v3.${side === "upstream" ? "Upstream" : "Downstream"}ReverseConnectionSocketInterface`,
          ),
          stat_prefix: "reverse",
        },
      })),
    ],
    dynamic_resources: {
      ads_config: {
        api_type: "DELTA_GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: {
      clusters: [
        cluster("xds", host, Number(port), true),
        cluster("backend", "127.0.0.1", 1, false),
        cluster("grpc", "127.0.0.1", 1, true),
        assigned,
      ],
      listeners: [
        listener("routes", 1, { rds: { config_source: ads, route_config_name: "routes" } }),
        listener("scopes", 2, { scoped_routes: scopedRoutes }),
        listener("secrets", 3, noRoutes, [injector], downstreamTls),
      ],
    },
  };
}
