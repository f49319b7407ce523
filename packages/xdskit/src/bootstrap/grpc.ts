import { type Address, formatAddress } from "@xdskit/server/address";

/** What a gRPC client's bootstrap for this server is made from. */
export interface GrpcBootstrapOptions {
  readonly server: Address;
  readonly nodeId: string;
  readonly nodeCluster: string;
}

/**
 * The JSON that gRPC clients read from the file named by `GRPC_XDS_BOOTSTRAP`, or from `GRPC_XDS_BOOTSTRAP_CONFIG` itself (gRPC A27).
 * `xds:///NAME` then asks for the listener NAME; an xDS-enabled gRPC server asks for the listener that the template names (A36).
 */
export function grpcBootstrap({ server, nodeId, nodeCluster }: GrpcBootstrapOptions): string {
  const bootstrap = {
    xds_servers: [
      { server_uri: formatAddress(server), channel_creds: [{ type: "insecure" }], server_features: ["xds_v3"] },
    ],
    // Node's client reads no bootstrap whose node lacks a locality; that of the others is empty by default.
    node: { id: nodeId, cluster: nodeCluster, locality: {} },
    server_listener_resource_name_template: "grpc/server?xds.resource.listening_address=%s",
  };
  return `${JSON.stringify(bootstrap, undefined, 2)}\n`;
}
