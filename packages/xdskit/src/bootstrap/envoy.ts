import { isIP } from "node:net";
import { join } from "node:path";
import { writeYaml } from "@xdskit/api";
import { replaceFiles } from "@xdskit/api/disk";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { ListenAddress } from "@xdskit/server/address";
import { type BootstrapNode, bootstrapNode } from "./bootstrap-node.js";
import { type EnvoyCredentials, secretFiles, tokenFilters, transportSocket } from "./envoy-credentials.js";

export interface EnvoyBootstrapOptions extends BootstrapNode, Omit<EnvoyCredentials, "host"> {
  /** `rest`: polls without a stream; `streams` does not matter then. */
  readonly variant: SotwOrDelta | "rest";
  /** One stream for all types (ADS), or one for each. */
  readonly streams: "ads" | "per-type";
  readonly server: ListenAddress;
  /** Where Envoy's own admin page listens on 127.0.0.1. */
  readonly adminPort: number;
  /** Let Envoy report its load to the server. */
  readonly loadReports: boolean;
}

/** The cluster of the bootstrap that leads to the server; resources that name a per-type source refer to it. */
export const serverCluster = "xdskit";

/**
 * An Envoy bootstrap as YAML, with a comment that says how to use it. Its fields are those of
 * `envoy.config.bootstrap.v3.Bootstrap`.
 */
export function envoyBootstrap(options: EnvoyBootstrapOptions): string {
  const streams = options.streams === "ads" ? "one aggregated stream (ADS)" : "one stream per type";
  const kind =
    options.variant === "rest"
      ? "polls over REST"
      : `${streams}, ${options.variant === "delta" ? "delta" : "state of the world"}`;
  const comments = [
    `Envoy's bootstrap for an xdskit server: ${kind}.`,
    "Start Envoy with: envoy -c FILE",
    ...(options.variant === "rest" ? [] : aboutDraining),
  ];
  return [...comments.map((line) => `# ${line}\n`), writeYaml(bootstrap(options))].join("");
}

/** Writes the files that the bootstrap names if there is a folder for secrets. Rejects with the system's error. */
export async function writeSecrets(options: EnvoyBootstrapOptions): Promise<void> {
  const { secrets, server } = options;
  if (secrets === undefined) return;
  const files = [...secretFiles({ ...options, host: serverHost(server) })];
  const byPath = new Map(files.map(([name, content]) => [join(secrets, name), content]));
  // They hold paths only, and Envoy may be another user.
  await replaceFiles(byPath, { file: 0o644, folder: 0o755, durable: false });
}

/** A setting of Envoy's command line that the server must know. */
const aboutDraining = [
  "A listener that is replaced drains for 600 s (--drain-time-s), and the server",
  "keeps what it uses for as long. Where you start Envoy with another",
  "--drain-time-s, put the same into xdskit.yaml: ordering: { drain: 600s }",
];

function bootstrap(options: EnvoyBootstrapOptions) {
  return {
    node: bootstrapNode(options),
    admin: { address: socketAddress({ host: "127.0.0.1", port: options.adminPort }) },
    dynamic_resources: options.streams === "ads" && options.variant !== "rest" ? aggregated(options) : perType(options),
    ...(options.loadReports ? { cluster_manager: { load_stats_config: loadReporting() } } : {}),
    static_resources: { clusters: [clusterOf(options)] },
  };
}

function aggregated({ variant }: EnvoyBootstrapOptions) {
  const ads = { resource_api_version: "V3", ads: {} };
  return { ads_config: apiConfigSource(variant), cds_config: ads, lds_config: ads };
}

function perType({ variant }: EnvoyBootstrapOptions) {
  const source = { resource_api_version: "V3", api_config_source: apiConfigSource(variant) };
  return { cds_config: source, lds_config: source };
}

/** Load reports have a stream of their own, which has only one form. */
function loadReporting() {
  return {
    api_type: "GRPC",
    transport_api_version: "V3",
    grpc_services: [{ envoy_grpc: { cluster_name: serverCluster } }],
  };
}

function apiConfigSource(variant: EnvoyBootstrapOptions["variant"]) {
  if (variant === "rest") {
    return {
      api_type: "REST",
      transport_api_version: "V3",
      cluster_names: [serverCluster],
      // Envoy waits up to twice that between polls: a change waits as long. The server holds a poll until something
      // changes.
      refresh_delay: "0.1s",
      request_timeout: "1s",
    };
  }
  return {
    api_type: variant === "delta" ? "DELTA_GRPC" : "GRPC",
    transport_api_version: "V3",
    // Envoy's node is 60 kB: once for each stream is enough (rule 113).
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: serverCluster } }],
  };
}

function clusterOf(options: EnvoyBootstrapOptions) {
  const { server, variant, tls } = options;
  const host = serverHost(server);
  return {
    name: serverCluster,
    type: !("path" in server) && isIP(host) === 0 ? "STRICT_DNS" : "STATIC",
    connect_timeout: "5s",
    ...(variant === "rest" ? manyPolls : {}),
    ...protocolOptions(options),
    ...(tls === undefined
      ? {}
      : { transport_socket: transportSocket({ ...options, host }, tls, variant === "rest" ? "http/1.1" : "h2") }),
    load_assignment: {
      cluster_name: serverCluster,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: socketAddress(server) } }] }],
    },
  };
}

/** The host of a server, by which its certificate is checked. */
export const serverHost = (server: ListenAddress): string => ("path" in server ? "localhost" : server.host);

/** How requests reach the server; a token is put into each. */
function protocolOptions({ variant, tokenFile, secrets }: EnvoyBootstrapOptions) {
  const filters = tokenFile === undefined || secrets === undefined ? {} : { http_filters: tokenFilters(secrets) };
  if (variant === "rest" && tokenFile === undefined) return {};
  // A stream may be silent for days; pings detect a server that is gone.
  const streams = { http2_protocol_options: { connection_keepalive: { interval: "30s", timeout: "5s" } } };
  return {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        explicit_http_config: variant === "rest" ? { http_protocol_options: {} } : streams,
        ...filters,
      },
    },
  };
}

const maxPolls = 20_000;
/**
 * Each load assignment and each route configuration has a poll, and a poll needs a connection: more than the 1,024 that
 * Envoy allows.
 */
const manyPolls = {
  circuit_breakers: {
    thresholds: [{ max_connections: maxPolls, max_pending_requests: maxPolls, max_requests: maxPolls }],
  },
};

function socketAddress(place: ListenAddress) {
  if ("path" in place) return { pipe: { path: place.path } };
  const { host, port } = place;
  return { socket_address: { address: host, port_value: port } };
}
