import type { TlsSettings } from "@xdskit/client";
import { formatAddress, type ListenAddress } from "@xdskit/server/address";
import { jsonText } from "../output/json-text.js";
import { type BootstrapNode, bootstrapNode } from "./bootstrap-node.js";

export interface GrpcBootstrapOptions extends BootstrapNode {
  /** The first, and then its fallbacks in order (A71). */
  readonly servers: readonly ListenAddress[];
  /** Of all servers. Undefined: plaintext. */
  readonly tls: TlsSettings | undefined;
  /** The file of a token that goes with each stream. */
  readonly tokenFile?: string | undefined;
  /** Whether the server may do what needs trust: rewrite authorities, and name services with their credentials. */
  readonly isTrusted?: boolean | undefined;
  /** Targets of services that resources may name, reached with the server's credentials. */
  readonly allowedServices?: readonly string[] | undefined;
}

/**
 * The JSON that gRPC clients read from the file named by `GRPC_XDS_BOOTSTRAP`, or from `GRPC_XDS_BOOTSTRAP_CONFIG`
 * itself (gRPC A27). `xds:///NAME` then asks for the listener NAME; an xDS-enabled gRPC server asks for the listener
 * that the template names (A36).
 */
export function grpcBootstrap(options: GrpcBootstrapOptions): string {
  const { servers, tls, tokenFile, isTrusted, allowedServices = [] } = options;
  const token = { type: "jwt_token_file", config: { jwt_token_file: tokenFile } };
  const credentials = {
    channel_creds: [channelCredentials(tls)],
    // A97.
    ...(tokenFile === undefined ? {} : { call_creds: [token] }),
  };
  const features = ["xds_v3", ...(isTrusted ? ["trusted_xds_server"] : [])];
  const allowed = Object.fromEntries(allowedServices.map((target) => [target, credentials]));
  const bootstrap = {
    xds_servers: servers.map((server) => ({
      server_uri: formatAddress(server),
      ...credentials,
      server_features: features,
    })),
    // gRPC's client for Node.js does not read a bootstrap whose node lacks a locality; for other clients it is empty by
    // default.
    node: { locality: {}, ...bootstrapNode(options) },
    server_listener_resource_name_template: "grpc/server?xds.resource.listening_address=%s",
    ...(tls === undefined ? {} : { certificate_providers: { default: certificateProvider(tls) } }),
    // A102.
    ...(allowedServices.length === 0 ? {} : { allowed_grpc_services: allowed }),
  };
  return jsonText(bootstrap);
}

/** A65: files that the client reads again. */
function channelCredentials(tls: TlsSettings | undefined) {
  return tls === undefined ? { type: "insecure" } : { type: "tls", config: filesOf(tls) };
}

/** A29: the same files for TLS with backends and clients, where resources name the instance `default`. */
function certificateProvider(tls: TlsSettings) {
  return { plugin_name: "file_watcher", config: { ...filesOf(tls), refresh_interval: "60s" } };
}

const filesOf = ({ caFile, certificateFile, keyFile }: TlsSettings) => ({
  ca_certificate_file: caFile,
  certificate_file: certificateFile,
  private_key_file: keyFile,
});
