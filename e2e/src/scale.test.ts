import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

const count = 5_000;
const names = Array.from({ length: count }, (_, index) => `cluster-${String(index).padStart(4, "0")}`);

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`${count} clusters, ${variant}`, { timeout: 300_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const port = await freePort();
    const last = names[count - 1] ?? "";
    const files = (changed?: { readonly cluster: string; readonly port: number }): Files => ({
      "clusters.json": names.map((name) =>
        cluster({ name, source, connectTimeout: name === changed?.cluster ? "2s" : "1s" }),
      ),
      "endpoints.json": names.map((name) =>
        loadAssignment(name, [name === changed?.cluster ? changed.port : red.port]),
      ),
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
      "routes.yaml": [routeConfiguration("routes", last)],
    });
    const folder = await createConfigFolder(scene.directory, files());
    const server = await serve(scene, folder.path, { withinMs: 60_000 });

    await scene.step("boots an Envoy", async () => {
      const started = performance.now();
      const { admin } = await startEnvoy(scene, { path, server: server.grpc, variant, withinMs: 90_000 });
      t.diagnostic(`booted in ${Math.round(performance.now() - started)} ms`);
      await eventually("an answer from red", async () => (await get(port)).body === "red");
      assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
      assert.equal(await admin.stat("cluster_manager.cluster_added"), count + 1);

      // One changed cluster of many, and its load assignment: nothing else may be touched.
      await folder.put(files({ cluster: last, port: green.port }));
      await eventually("an answer from green", async () => (await get(port)).body === "green", { withinMs: 30_000 });
      await eventually("the changed cluster", async () => (await admin.stat("cluster_manager.cluster_modified")) === 1);
      assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
      assert.equal(await admin.stat("cluster_manager.cds.update_rejected"), 0);
    });
  });
}
