import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { startServed } from "./harness/xdskit/served.js";

type Json = Readonly<Record<string, unknown>>;

const packed = (name: string, type: string, config: Json): Json => ({
  name,
  typed_config: { "@type": typeUrl(`envoy.extensions.${type}`), ...config },
});

const routesBy = (name: string, route: Json): ResourceText => ({
  "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
  name,
  virtual_hosts: [{ name: "all", domains: ["*"], routes: [{ match: { prefix: "" }, route }] }],
});

const plugin = (extension: Json): Json => ({ inline_cluster_specifier_plugin: { extension } });

const matchers = "router.cluster_specifiers.matcher.v3.";
const priorities = "router.cluster_specifiers.priority_group.v3.";

/**
 * What leads from the route configuration `name` to the cluster `to` of this move, by something else than the name of
 * a cluster in a route.
 */
const ways: { readonly [kind: string]: (name: string, to: string, move: number) => readonly ResourceText[] } = {
  matcher: (name, to) => {
    const action = packed("cluster", `${matchers}ClusterAction`, { cluster: to });
    const config = { cluster_matcher: { on_no_match: { action } } };
    const extension = packed("matcher", `${matchers}MatcherClusterSpecifier`, config);
    return [routesBy(name, plugin(extension))];
  },
  "priority-group": (name, to) => {
    const config = { priority_groups: [{ name: "all", clusters: [{ cluster_name: to, weight: 1 }] }] };
    return [routesBy(name, plugin(packed("groups", `${priorities}PriorityGroupClusterSpecifier`, config)))];
  },
  composite: (name, to) => [
    routesBy(name, { cluster: "composite" }),
    {
      "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
      name: "composite",
      connect_timeout: "1s",
      lb_policy: "CLUSTER_PROVIDED",
      cluster_type: packed("envoy.clusters.composite", "clusters.composite.v3.ClusterConfig", {
        clusters: [{ name: to }],
      }),
    },
  ],
  aggregate: (name, to) => [
    routesBy(name, { cluster: "aggregate" }),
    {
      "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
      name: "aggregate",
      connect_timeout: "1s",
      lb_policy: "CLUSTER_PROVIDED",
      cluster_type: packed("envoy.clusters.aggregate", "clusters.aggregate.v3.ClusterConfig", { clusters: [to] }),
    },
  ],
  // By way of an internal listener, which an endpoint names.
  internal: (name, to, move) => [
    routesBy(name, { cluster: `to-inner-${move}` }),
    ...throughListener(`to-inner-${move}`, `inner-${move}`, to),
  ],
  // The same, by a cluster that is in use.
  "internal-of-old": (name, to, move) => [
    routesBy(name, { cluster: "to-other" }),
    ...throughListener("to-other", `other-${move}`, to),
  ],
};

/** A cluster that leads to an internal listener, which leads to another cluster. */
function throughListener(cluster: string, listener: string, to: string): readonly ResourceText[] {
  const address = { envoy_internal_address: { server_listener_name: listener } };
  return [
    {
      "@type": typeUrl("envoy.config.cluster.v3.Cluster"),
      name: cluster,
      connect_timeout: "1s",
      load_assignment: { cluster_name: cluster, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    },
    {
      "@type": typeUrl("envoy.config.listener.v3.Listener"),
      name: listener,
      internal_listener: {},
      filter_chains: [
        {
          filters: [packed("tcp", "filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: "inner", cluster: to })],
        },
      ],
    },
  ];
}

/** Internal listeners need it. */
const internalListeners = {
  bootstrap_extensions: [
    packed("envoy.bootstrap.internal_listener", "bootstrap.internal_listener.v3.InternalListener", {}),
  ],
};

for (const variant of someVariants) {
  test(`Envoy whose clusters are not named by routes alone, ${variant}`, { timeout: 240_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const backends = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")] as const;
    const ports = new Map<string, number>();
    const kinds = Object.keys(ways);
    for (const kind of kinds) ports.set(kind, await freePort());
    const resources = (move: number): readonly ResourceText[] =>
      kinds.flatMap((kind) => {
        const to = `${kind}-${move}`;
        return [
          httpListener({ name: kind, port: ports.get(kind) ?? 0, routeName: kind, source, saysWhy: true }),
          ...(ways[kind]?.(kind, to, move) ?? []),
          cluster({ name: to, source }),
          loadAssignment(to, [backends[move % 2 === 0 ? 0 : 1].port]),
        ];
      });
    const served = await startServed(scene, variant, resources(0));
    await startEnvoy(scene, { path, server: served.address, variant, bootstrap: internalListeners });
    const loads = Array.from(ports, ([kind, port]) => ({ kind, load: startLoad(scene, port, { lanes: 3 }) }));
    for (const { load } of loads) await load.reaches("red");

    await scene.step("no request fails while each is led to a new cluster and the old one goes, 10 times", async () => {
      for (let move = 1; move <= 10; move += 1) {
        await served.put(resources(move));
        for (const { load } of loads) await load.reaches(move % 2 === 0 ? "red" : "green");
      }
      const failed = loads.flatMap(({ kind, load }) => load.failures().map((failure) => `${kind}: ${failure}`));
      t.diagnostic(`${loads.map(({ kind, load }) => `${kind} ${load.answered()}`).join(", ")}`);
      assert.deepEqual(failed, []);
    });
  });
}
