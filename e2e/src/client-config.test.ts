import { test } from "node:test";
import { createClient, type XdsConfig } from "@xdskit/client";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startGoControlPlane } from "./harness/peers/go-control-plane.js";

const url = (name: string) => ({ "@type": typeUrl(name) });
const listener: ResourceText = {
  ...url("envoy.config.listener.v3.Listener"),
  name: "app",
  api_listener: {
    api_listener: {
      ...url("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
      stat_prefix: "app",
      rds: { route_config_name: "r", config_source: { ads: {} } },
    },
  },
};
const routes = (...clusters: readonly string[]): ResourceText => ({
  ...url("envoy.config.route.v3.RouteConfiguration"),
  name: "r",
  virtual_hosts: [
    {
      name: "all",
      domains: ["*"],
      routes: clusters.map((cluster) => ({ match: { prefix: `/${cluster}` }, route: { cluster } })),
    },
  ],
});
const cluster = (name: string): ResourceText => ({
  ...url("envoy.config.cluster.v3.Cluster"),
  name,
  type: "EDS",
  eds_cluster_config: { eds_config: { ads: {} } },
});
const assignment = (cluster_name: string, port_value: number): ResourceText => ({
  ...url("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name,
  endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value } } } }] }],
});

/** `a=1 b=error`: the clusters, and the port of each. */
function text(config: XdsConfig): string {
  const parts = [...config.clusters.values()].map((cluster) => {
    if (cluster.kind !== "cluster" || cluster.endpoints.kind !== "assignment") return `${cluster.name}=error`;
    const address = cluster.endpoints.resource.message.endpoints[0]?.lbEndpoints[0]?.hostIdentifier;
    const socket = address?.case === "endpoint" ? address.value.address?.address : undefined;
    return `${cluster.name}=${socket?.case === "socketAddress" ? socket.value.portSpecifier.value : ""}`;
  });
  return parts.sort().join(" ");
}

for (const cache of ["snapshot", "linear"] as const) {
  for (const variant of ["sotw", "delta"] as const) {
    const name = `a listener with all that it leads to, from go-control-plane's ${cache} cache, ${variant}`;
    test(name, { timeout: 120_000 }, async (t) => {
      const command = peer("go-control-plane-server", t);
      if (command === undefined) return;
      const scene = await createScene(t);
      const server = await startGoControlPlane(scene, command, { cache, ads: false });
      await server.set("1", [listener, routes("a"), cluster("a"), assignment("a", 1)]);
      const client = createClient({
        servers: [{ kind: "grpc", address: server.address, variant }],
        node: { id: "go" },
        absentAfterMs: 2_000,
      });
      t.after(() => client.close());
      const told: string[] = [];
      client.watchConfig("app", {
        onChanged: (config) => void told.push(text(config)),
        onError: ({ code }) => void told.push(code),
      });
      const tells = (...all: readonly string[]) =>
        eventually(`${all.join(", then ")}; is ${told.join(", then ")}`, () => told.join() === all.join());
      await scene.step("tells it once it is complete", async () => {
        await tells("a=1");
      });
      await scene.step("follows endpoints", async () => {
        await server.set("2", [listener, routes("a"), cluster("a"), assignment("a", 2)]);
        await tells("a=1", "a=2");
      });
      await scene.step("moves to another cluster at once, and never to half of it", async () => {
        const both = [cluster("a"), cluster("b"), assignment("a", 2), assignment("b", 3)];
        await server.set("3", [listener, routes("b"), ...both]);
        await tells("a=1", "a=2", "b=3");
      });
      await scene.step("says which cluster does not exist, and goes on with the others", async () => {
        await server.set("4", [listener, routes("b", "c"), cluster("b"), assignment("b", 3)]);
        await tells("a=1", "a=2", "b=3", "b=3 c=error");
      });
    });
  }
}
