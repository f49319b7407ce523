// A control plane of your own: endpoints that come from a program instead of a file.
//   npx tsx --conditions=@xdskit/source examples/library/main.ts [HOST:PORT]
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ApiVersion } from "@xdskit/api/envoy/config/core/v3/config_source";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { createServer } from "@xdskit/server";

const web = create(ClusterSchema, {
  name: "web",
  clusterDiscoveryType: { case: "type", value: Cluster_DiscoveryType.EDS },
  edsClusterConfig: {
    edsConfig: { resourceApiVersion: ApiVersion.V3, configSourceSpecifier: { case: "ads", value: {} } },
  },
  connectTimeout: { seconds: 1n },
});

/** The load assignment of the cluster `web`: one locality, every port on this machine. */
function endpointsAt(...ports: readonly number[]) {
  return create(ClusterLoadAssignmentSchema, {
    clusterName: "web",
    endpoints: [{ lbEndpoints: ports.map((port) => create(LbEndpointSchema, endpointAt(port))) }],
  });
}

function endpointAt(portValue: number): MessageInitShape<typeof LbEndpointSchema> {
  const socket = { address: "127.0.0.1", portSpecifier: { case: "portValue", value: portValue } } as const;
  return {
    hostIdentifier: { case: "endpoint", value: { address: { address: { case: "socketAddress", value: socket } } } },
  };
}

const server = createServer();

// The nodes that took a version, and those that did not, with the reason.
server.on((event) => {
  switch (event.kind) {
    case "stream-opened":
      console.log(`${event.stream.node.id} connected`);
      break;
    case "acknowledged":
      console.log(`${event.stream.node.id} runs ${event.type.name} ${event.version}`);
      break;
    case "rejected":
      console.log(`${event.stream.node.id} rejected ${event.type.name} ${event.version}: ${event.message}`);
      break;
  }
});

// Everything at once. A resource that is missing here is removed.
server.config.set([web, endpointsAt(8080)]);
const { grpc } = await server.listen({ grpc: process.argv[2] ?? "127.0.0.1:18000" });
console.log(`listening on ${grpc}`);

// A second endpoint comes up: only the load assignment is sent, and only to those that asked for it.
setTimeout(() => server.config.update({ upsert: [endpointsAt(8080, 8081)] }), 1_000).unref();

process.once("SIGINT", () => void server.close());
process.once("SIGTERM", () => void server.close());
