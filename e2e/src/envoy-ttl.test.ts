import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  perishable,
  routeConfiguration,
  typeUrl,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get, startTraffic } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** Long enough that a busy machine does not come late with a heartbeat: one is sent every 2 s. */
const ttlSeconds = 8;
/** A reconnecting Envoy waits longer from time to time, up to 30 s. */
const backMs = 60_000;

/** A runtime whose value is 1, and 2 while what comes by RTDS is there. */
const layered = (source: Record<string, unknown>) => ({
  layered_runtime: {
    layers: [
      { name: "static", static_layer: { "example.value": 1 } },
      { name: "rtds", rtds_layer: { name: "runtime", rtds_config: source } },
    ],
  },
});
const runtime: ResourceText = {
  "@type": typeUrl("envoy.service.runtime.v3.Runtime"),
  name: "runtime",
  layer: { "example.value": 2 },
};

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy keeps what has a TTL while the server lives, and no longer, ${variant}`, {
    timeout: 180_000,
  }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const red = await startHttpBackend(scene, "red");
    const [port, lastingPort] = [await freePort(), await freePort()];
    const listener = (name: string, at: number) => httpListener({ name, port: at, routeName: "routes", source });
    const folder = await createConfigFolder(scene.directory, {
      "clusters.yaml": [cluster({ name: "a", source }), perishable("b", ttlSeconds, cluster({ name: "b", source }))],
      // Whatever it does when their time is over, or is spared: what serves goes on serving.
      "endpoints.yaml": [perishable("a", ttlSeconds, loadAssignment("a", [red.port])), loadAssignment("b", [red.port])],
      "listeners.yaml": [
        perishable("perishable", ttlSeconds, listener("perishable", port)),
        listener("lasting", lastingPort),
      ],
      "routes.yaml": [perishable("routes", ttlSeconds, routeConfiguration("routes", "a"))],
      "runtime.yaml": [perishable("runtime", ttlSeconds, runtime)],
    });
    let server = await serve(scene, folder.path);
    const { grpc } = server;
    const { admin } = await startEnvoy(scene, { path, server: grpc, variant, bootstrap: layered(source) });
    const clusters = async () => [...(await admin.activeClusters()).keys()].sort().join();
    const listeners = async () => [...(await admin.activeListeners()).keys()].sort().join();
    const runtimeValue = async () => (await admin.runtime()).get("example.value");
    const holds = async (expected: { clusters: string; listeners: string; runtime: string }) => {
      assert.deepEqual(
        { clusters: await clusters(), listeners: await listeners(), runtime: await runtimeValue() },
        expected,
      );
      return true;
    };
    const everything = { clusters: "a,b", listeners: "lasting,perishable", runtime: "2" };

    const kept = await scene.step("stays for several TTLs, under traffic", async () => {
      await eventually("all of it", () => holds(everything));
      const traffic = startTraffic(scene, port);
      const beats = (type: string) => metric(server.admin, "xdskit_heartbeats_total", { type });
      // At two seconds each these take longer than two TTLs.
      await eventually(
        "heartbeats",
        async () => Math.min(await beats("listener"), await beats("cluster"), await beats("runtime")) >= 10,
        {
          withinMs: 60_000,
        },
      );
      await holds(everything);
      assert.deepEqual(traffic.failures(), []);
      assert.equal(await admin.stat("listener_manager.listener_removed"), 0);
      assert.equal(await admin.stat("cluster_manager.cluster_removed"), 0);
      assert.equal(await admin.stat("listener_manager.lds.update_rejected"), 0);
      assert.equal(await admin.stat("cluster_manager.cds.update_rejected"), 0);
      await traffic.stop();
    });
    if (!kept) return;

    await scene.step("loses only that resource when the server is away longer than its TTL", async () => {
      await server.process.stop();
      await eventually(
        "the end of what has a TTL",
        () => holds({ clusters: "a", listeners: "lasting", runtime: "1" }),
        { withinMs: 3 * ttlSeconds * 1000 },
      );
      assert.equal((await get(lastingPort)).body, "red");
    });

    await scene.step("comes back with the server", async () => {
      server = await serve(scene, folder.path, { grpc });
      await eventually("all of it", () => holds(everything), { withinMs: backMs });
      await eventually("an answer from red", async () => (await get(port)).body === "red");
    });
  });
}
