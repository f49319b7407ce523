import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startGoControlPlane } from "./harness/peers/go-control-plane.js";
import { xdskitCommand } from "./harness/xdskit/xdskit.js";

const ads = { ads: {}, resource_api_version: "V3" };
const cluster = (name: string, altStatName: string): ResourceText => ({
  "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
  name,
  type: "EDS",
  alt_stat_name: altStatName,
  eds_cluster_config: { eds_config: ads, service_name: `${name}-service` },
});
const assignment = (name: string): ResourceText => ({
  "@type": typeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment"),
  cluster_name: `${name}-service`,
});
const listener: ResourceText = {
  "@type": typeUrl("envoy.config.listener.v3.Listener"),
  name: "l",
  filter_chains: [
    {
      filters: [
        {
          name: "http",
          typed_config: {
            "@type": typeUrl("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
            stat_prefix: "l",
            rds: { route_config_name: "r", config_source: ads },
          },
        },
      ],
    },
  ],
};
const route: ResourceText = { "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"), name: "r" };
/** Of one version: 6 resources in 4 types. */
const resources = (content: string) => [
  ...["a", "b"].flatMap((name) => [cluster(name, content), assignment(name)]),
  ...[listener, route],
];

interface Report {
  readonly state: { readonly complete: number; readonly connected: number };
  readonly resources: readonly { readonly fewest: number; readonly most: number; readonly differentSets: number }[];
  readonly changes: { readonly newest: readonly { readonly type: string; readonly nodes: number }[] };
  readonly streams: { readonly failed: number };
  readonly received: { readonly again: number };
  readonly reconnects: { readonly count: number };
}

const nodes = 20;

for (const variant of ["sotw", "delta"] as const) {
  for (const isAds of [true, false]) {
    test(`xdskit bench against go-control-plane, ${variant}, ${isAds ? "ADS" : "per type"}`, {
      timeout: 120_000,
    }, async (t) => {
      const program = peer("go-control-plane-server", t);
      if (program === undefined) return;
      const scene = await createScene(t);
      const server = await startGoControlPlane(scene, program, { cache: "snapshot", ads: false });
      await server.set("1", resources("1"));
      const { command, args } = xdskitCommand();
      const how = ["--variant", variant, ...(isAds ? ["--ads"] : []), "--nodes", `${nodes}`];
      const start = (...more: string[]) =>
        scene.start({
          name: "xdskit bench",
          command,
          args: [...args, "bench", "--server", server.address, ...how, "--json", ...more],
        });
      const reportOf = (process: { readonly stdout: readonly string[] }) =>
        JSON.parse(process.stdout.join("\n")) as Report;

      await scene.step("all hold everything, and each change reaches each of them once", async () => {
        const fleet = start("--duration", "10m");
        await eventually("all hold everything", () =>
          fleet.stderr.some((line) => line.includes(`${nodes} hold everything`)),
        );
        await server.set("2", resources("2"));
        const acknowledged = () =>
          server.events().filter(({ event, type, nonce = "" }) => {
            return event === "request" && type === typeUrl("envoy.config.cluster.v3.Cluster") && nonce !== "";
          }).length;
        await eventually("all acknowledge both", () => acknowledged() >= 2 * nodes);
        assert.deepEqual(await fleet.stop("SIGTERM"), { code: 0, signal: null });
        const { state, resources: counted, changes, streams } = reportOf(fleet);
        assert.deepEqual([state.complete, state.connected, streams.failed], [nodes, nodes, 0]);
        assert.deepEqual(
          counted.map(({ fewest, most, differentSets }) => [fewest, most, differentSets]),
          [2, 2, 1, 1].map((size) => [size, size, 1]),
        );
        const clusters = changes.newest.filter(({ type }) => type === "cluster");
        assert.deepEqual(
          clusters.map((change) => change.nodes),
          [nodes],
        );
      });

      await scene.step("a client that reconnects says what it has", async () => {
        const fleet = start("--duration", "1s", "--churn", "100%");
        assert.deepEqual(await fleet.ended, { code: 0, signal: null });
        const { state, received, reconnects } = reportOf(fleet);
        assert.equal(state.complete, nodes);
        assert.ok(reconnects.count > 0);
        if (variant === "delta") assert.equal(received.again, 0);
      });
    });
  }
}
