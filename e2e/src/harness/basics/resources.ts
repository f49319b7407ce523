import type { ResourceText } from "./config-folder.js";

/** The four ways in which Envoy can take its configuration over gRPC. */
export const variants = ["ads-sotw", "ads-delta", "per-type-sotw", "per-type-delta"] as const;
export type ClientVariant = (typeof variants)[number];

/** The type URL of a message. */
export const typeUrl = (name: string): string => `type.googleapis.com/${name}`;

/** Beside those, Envoy can poll over REST. */
export type AnyVariant = ClientVariant | "rest";

/** The static cluster by which an Envoy reaches the server, as `xdskit bootstrap` names it. */
const xdsCluster = "xdskit";

/** Where a resource of one type says that the next is to be had. */
export function configSource(variant: AnyVariant): Record<string, unknown> {
  if (variant.startsWith("ads")) return { ads: {}, resource_api_version: "V3" };
  if (variant === "rest") return restSource({});
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: variant === "per-type-delta" ? "DELTA_GRPC" : "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: xdsCluster } }],
    },
  };
}

/** Polls, with Envoy's default of 1 s for a request unless it is said otherwise. */
export function restSource(options: { readonly refreshDelay?: string; readonly requestTimeout?: string }) {
  return {
    resource_api_version: "V3",
    api_config_source: {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: [xdsCluster],
      refresh_delay: options.refreshDelay ?? "0.1s",
      ...(options.requestTimeout === undefined ? {} : { request_timeout: options.requestTimeout }),
    },
  };
}

export interface ClusterText {
  readonly name: string;
  readonly source: Record<string, unknown>;
  readonly connectTimeout?: string;
  readonly lbPolicy?: string;
  /** Whether Envoy rejects it, and no rule of ours. */
  readonly isRejected?: boolean;
  /** The name of its load assignment. Default: its own. */
  readonly serviceName?: string;
  /**
   * Where its endpoints are asked whether they are well; it warms until each has answered once. Default: nobody asks.
   */
  readonly healthPath?: string;
}

/** An EDS cluster. */
export const cluster = ({
  name,
  source,
  connectTimeout = "1s",
  lbPolicy = "ROUND_ROBIN",
  isRejected = false,
  serviceName,
  healthPath,
}: ClusterText): ResourceText => ({
  "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
  name,
  type: "EDS",
  connect_timeout: connectTimeout,
  lb_policy: lbPolicy,
  eds_cluster_config: { eds_config: source, ...(serviceName === undefined ? {} : { service_name: serviceName }) },
  ...(healthPath === undefined ? {} : { health_checks: [httpHealthCheck(healthPath)] }),
  ...(isRejected ? { load_balancing_policy: providedByCluster } : {}),
});

/** What an EDS cluster does not provide, as Envoy sees once it makes the cluster. */
const providedByCluster = {
  policies: [
    {
      typed_extension_config: {
        name: "envoy.load_balancing_policies.cluster_provided",
        typed_config: {
          "@type": typeUrl("envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided"),
        },
      },
    },
  ],
};

/**
 * A load assignment that Envoy rejects, and no rule of ours: it drops by one category only, and gRPC's clients by
 * several.
 */
export const rejectedAssignment = (clusterName: string): ResourceText => ({
  "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: clusterName,
  policy: {
    drop_overloads: ["a", "b"].map((category) => ({ category, drop_percentage: { numerator: 1 } })),
  },
});

const httpHealthCheck = (path: string): Record<string, unknown> => ({
  timeout: "20s",
  interval: "1s",
  unhealthy_threshold: 1,
  healthy_threshold: 1,
  http_health_check: { path },
});

/** The load assignment of a cluster: ports of 127.0.0.1, in one locality. */
export const loadAssignment = (clusterName: string, ports: readonly number[]): ResourceText => ({
  "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: clusterName,
  endpoints: [
    {
      locality: { region: "here", zone: "a" },
      load_balancing_weight: 1,
      lb_endpoints: ports.map((port) => ({
        endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
        health_status: "HEALTHY",
        load_balancing_weight: 1,
      })),
    },
  ],
});

/** A route configuration that sends everything to one cluster. */
export const routeConfiguration = (name: string, clusterName: string): ResourceText => ({
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  ...allTo(name, clusterName),
});

/** The same inside a listener. */
export const routesTo = (clusterName: string) => ({ route_config: allTo("inline", clusterName) });

const allTo = (name: string, clusterName: string) => ({
  name,
  virtual_hosts: [
    { name: "all", domains: ["*"], routes: [{ match: { prefix: "" }, route: { cluster: clusterName } }] },
  ],
});

/** Answers every request for these hosts itself: it needs no cluster. The body says which configuration is in use. */
export const answering = (name: string, body: string, domains: readonly string[] = ["*"]): Record<string, unknown> => ({
  name,
  domains,
  routes: [{ match: { prefix: "" }, direct_response: { status: 200, body: { inline_string: body } } }],
});

export interface HttpConnectionManagerText {
  readonly routeName: string;
  readonly source: Record<string, unknown>;
  readonly serverName?: string;
  /** What Envoy answers itself then says why: the flags and details that its access log would show. */
  readonly saysWhy?: boolean;
}

/**
 * The connection manager whose routes are given, or said to be had from somewhere: `rds`, `scoped_routes`,
 * `route_config`.
 */
const httpConnectionManager = (
  routes: Record<string, unknown>,
  { filters = [], serverName, saysWhy = false }: Pick<ListenerText, "filters" | "serverName" | "saysWhy">,
): Record<string, unknown> => ({
  "@type": typeUrl("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
  stat_prefix: "ingress",
  ...(serverName === undefined ? {} : { server_name: serverName }),
  ...(saysWhy ? { local_reply_config: { body_format: { text_format_source: { inline_string: why } } } } : {}),
  ...routes,
  http_filters: [
    ...filters,
    {
      name: "envoy.filters.http.router",
      typed_config: { "@type": typeUrl("envoy.extensions.filters.http.router.v3.Router") },
    },
  ],
});

const why = "%RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%";

const rds = ({ routeName, source }: HttpConnectionManagerText): Record<string, unknown> => ({
  rds: { route_config_name: routeName, config_source: source },
});

export interface ListenerText {
  readonly name: string;
  readonly port: number;
  /** The routes of its connection manager: `{ rds: … }`, `{ scoped_routes: … }`, `{ route_config: … }`. */
  readonly routes: Record<string, unknown>;
  readonly serverName?: string;
  readonly saysWhy?: boolean;
  /** HTTP filters before the router. */
  readonly filters?: readonly unknown[];
  /** The configuration of TLS; undefined: plain text. */
  readonly tls?: Record<string, unknown>;
  /** Whether Envoy rejects it, and no rule of ours: its certificate is in a file that is not there. */
  readonly isRejected?: boolean;
}

/** An HTTP listener of 127.0.0.1. */
export const listener = (options: ListenerText): ResourceText => ({
  "@type": typeUrl("envoy.config.listener.v3.Listener"),
  name: options.name,
  address: { socket_address: { address: "127.0.0.1", port_value: options.port } },
  filter_chains: [
    {
      filters: [
        {
          name: "envoy.filters.network.http_connection_manager",
          typed_config: httpConnectionManager(options.routes, options),
        },
      ],
      ...(options.tls === undefined ? {} : { transport_socket: tlsSocket(options.tls) }),
      ...(options.isRejected ? { transport_socket: tlsSocket(missingCertificate) } : {}),
    },
  ],
});

const missingCertificate = {
  common_tls_context: {
    tls_certificates: [{ certificate_chain: { filename: "/nowhere.pem" }, private_key: { filename: "/nowhere.key" } }],
  },
};

const tlsSocket = (config: Record<string, unknown>): Record<string, unknown> => ({
  name: "envoy.transport_sockets.tls",
  typed_config: { "@type": typeUrl("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"), ...config },
});

export interface HttpListenerText extends HttpConnectionManagerText, Omit<ListenerText, "routes"> {}

/** A listener of 127.0.0.1 whose routes come by RDS. */
export const httpListener = (options: HttpListenerText): ResourceText => listener({ ...options, routes: rds(options) });

/** The listener of a proxyless gRPC client: its name is the target, `xds:///NAME`. */
export const apiListener = (options: HttpConnectionManagerText & { readonly name: string }): ResourceText => ({
  "@type": typeUrl("envoy.config.listener.v3.Listener"),
  name: options.name,
  // gRPC's clients need no prefix of statistics.
  api_listener: { api_listener: { ...httpConnectionManager(rds(options), options), stat_prefix: "" } },
});

/** Routes of an xDS-enabled gRPC server: calls are let in. */
export const inboundRoutes = (name: string): ResourceText => ({
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  name,
  virtual_hosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "" }, non_forwarding_action: {} }] }],
});

/** A resource that clients which are told its TTL drop when they have not heard of the server for that long. */
export const perishable = (name: string, ttlSeconds: number, resource: ResourceText): ResourceText => ({
  "@type": typeUrl("envoy.service.discovery.v3.Resource"),
  name,
  ttl: `${ttlSeconds}s`,
  resource,
});
