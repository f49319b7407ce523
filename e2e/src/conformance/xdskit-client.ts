// A program with xdskit's client, as it is held against the protocol: it asks for two clusters, for routes, and for the
// endpoints of the cluster that they lead to, and serves its status. It ends with its standard input.
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { clientOptionsFromBootstrap, createClient, serveStatus, type Watch } from "@xdskit/client";
import type { SotwOrDelta } from "@xdskit/protocol";

const variant: SotwOrDelta = process.argv[2] === "delta" ? "delta" : "sotw";
const options = await clientOptionsFromBootstrap();
const servers = options.servers?.map((server) =>
  typeof server === "object" && server.kind === "grpc" ? { ...server, variant } : server,
);
const client = createClient({ ...options, servers: servers ?? [] });
const status = process.env.XDS_CONFORMANCE_CSDS;
if (status !== undefined) await serveStatus(client, status);
// What the client does with them is not the program's.
const nothing = { onChanged() {} };
for (const name of ["x", "y"]) client.watch("cluster", name, nothing);
let endpoints: Watch | undefined;
client.watch(RouteConfigurationSchema, "r", {
  onChanged({ message }) {
    endpoints?.cancel();
    const action = message.virtualHosts[0]?.routes[0]?.action;
    const to = action?.case === "route" ? action.value.clusterSpecifier : undefined;
    endpoints = to?.case === "cluster" ? client.watch("endpoint", to.value, nothing) : undefined;
  },
});
process.stdin.on("end", () => process.exit()).resume();
