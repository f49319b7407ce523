// A program that finds the endpoints of its services over xDS, and follows them.
//   npx tsx --conditions=@xdskit/source examples/client/main.ts [HOST:PORT] [LISTENER]
import type { ClusterLoadAssignment } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { type ConfigCluster, createClient, type XdsConfig } from "@xdskit/client";

const [server = "127.0.0.1:18000", listener = "quickstart"] = process.argv.slice(2);
const client = createClient({ servers: [server], node: { id: "example-client" } });

client.on((event) => {
  if (event.kind === "connected") console.log(`connected to ${event.server}`);
});

client.watchConfig(listener, {
  // Always complete: every cluster that the routes name is here, with its endpoints or its error.
  onChanged(config, previous) {
    for (const [name, cluster] of config.clusters) {
      // A part that did not change is the same object.
      if (cluster !== previous?.clusters.get(name)) console.log(`${name}: ${textOf(cluster, config)}`);
    }
    for (const name of previous?.clusters.keys() ?? []) {
      if (!config.clusters.has(name)) console.log(`${name}: not used any more`);
    }
  },
  onError: (error) => console.log(`no configuration: ${error.message}`),
  onAmbient: (problems) =>
    console.log(problems.length === 0 ? "all is well again" : "the last configuration is used on"),
});

function textOf(cluster: ConfigCluster, config: XdsConfig): string {
  switch (cluster.kind) {
    case "error":
      return cluster.error.message;
    case "aggregate": {
      const leaves = cluster.leaves.map((name) => config.clusters.get(name));
      return leaves.map((leaf) => leaf && textOf(leaf, config)).join(", or else ");
    }
    case "cluster": {
      const { endpoints } = cluster;
      if (endpoints.kind === "error") return endpoints.error.message;
      if (endpoints.kind === "other") return `endpoints by ${endpoints.type}`;
      const assignment = endpoints.kind === "inline" ? endpoints.assignment : endpoints.resource.message;
      return addressesOf(assignment).join(" ") || "no endpoints";
    }
  }
}

/** `HOST:PORT` of each endpoint. */
function addressesOf(assignment: ClusterLoadAssignment | undefined): readonly string[] {
  return (assignment?.endpoints ?? []).flatMap(({ lbEndpoints }) =>
    lbEndpoints.flatMap(({ hostIdentifier }) => {
      const address = hostIdentifier.case === "endpoint" ? hostIdentifier.value.address?.address : undefined;
      if (address?.case !== "socketAddress") return [];
      return [`${address.value.address}:${address.value.portSpecifier.value}`];
    }),
  );
}

process.once("SIGINT", () => void client.close());
process.once("SIGTERM", () => void client.close());
