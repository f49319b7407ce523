import { create } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createServer, type ServerLimits, type XdsServer } from "@xdskit/server";

/** The identities of the server that is flooded; each shows its name as its token. */
export const tenants = ["wild", "calm"] as const;

export interface FloodedServer {
  readonly server: XdsServer;
  readonly grpc: string;
  readonly rest: string;
}

/** A server with an identity for each tenant, and a hundred clusters. */
export async function serveTenants(limits: Partial<ServerLimits>): Promise<FloodedServer> {
  const server = createServer({
    limits,
    rest: { holdMs: 1_000 },
    tokenName: (token) => token,
    identities: tenants.map((token) => ({ when: { token }, node: { cluster: token } })),
  });
  server.config.set(Array.from({ length: 100 }, (_, at) => create(ClusterSchema, { name: `cluster-${at}` })));
  const ports = await server.listen({ grpc: "127.0.0.1:0", rest: "127.0.0.1:0" });
  return { server, ...ports };
}
