import type { TlsSettings } from "@xdskit/client";
import { formatAddress, type ListenPlace } from "@xdskit/server/address";
import { type BootstrapNode, bootstrapNode } from "./bootstrap-node.js";

export interface GrpcBootstrapOptions extends BootstrapNode {
  readonly server: ListenPlace;
  /** Undefined: plaintext. */
  readonly tls: TlsSettings | undefined;
}

/**
 * The JSON that gRPC clients read from the file named by `GRPC_XDS_BOOTSTRAP`, or from `GRPC_XDS_BOOTSTRAP_CONFIG`
 * itself (gRPC A27). `xds:///NAME` then asks for the listener NAME; an xDS-enabled gRPC server asks for the listener
 * that the template names (A36).
 */
export function grpcBootstrap({ server, tls, ...node }: GrpcBootstrapOptions): string {
  const bootstrap = {
    xds_servers: [
      { server_uri: formatAddress(server), channel_creds: [channelCredentials(tls)], server_features: ["xds_v3"] },
    ],
    // gRPC's client for Node.js does not read a bootstrap whose node lacks a locality; for other clients it is empty by
    // default.
    node: { locality: {}, ...bootstrapNode(node) },
    server_listener_resource_name_template: "grpc/server?xds.resource.listening_address=%s",
  };
  return `${JSON.stringify(bootstrap, undefined, 2)}\n`;
}

/** gRPC A65: files that the client reads again. */
function channelCredentials(tls: TlsSettings | undefined) {
  if (tls === undefined) return { type: "insecure" };
  const { caFile, certificateFile, keyFile } = tls;
  const config = { ca_certificate_file: caFile, certificate_file: certificateFile, private_key_file: keyFile };
  return { type: "tls", config };
}
