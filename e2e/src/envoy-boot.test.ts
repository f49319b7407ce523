import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy's boot, ${variant}`, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const red = await startHttpBackend(scene, "red");
    const port = await freePort();
    const files: Files = {
      "clusters.yaml": [
        cluster({ name: "a", source }),
        cluster({ name: "rejected", source, isRejected: true }),
        cluster({ name: "b", source }),
      ],
      "endpoints.yaml": [loadAssignment("a", [red.port]), loadAssignment("b", [red.port])],
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
      "routes.yaml": [routeConfiguration("routes", "b")],
    };
    const folder = await createConfigFolder(scene.directory, files);
    const grpc = `127.0.0.1:${await freePort()}`;
    const { admin } = await startEnvoy(scene, { path, server: grpc, variant, onlyStart: true });

    await scene.step(
      "waits for a server that is not there yet, and takes the good beside a rejected cluster",
      async () => {
        await quiet(1_000);
        assert.equal(await admin.isLive(), false);
        await serve(scene, folder.path, { grpc });
        await eventually("an answer from red", async () => (await get(port)).body === "red", { withinMs: 40_000 });
        assert.deepEqual([...(await admin.activeClusters()).keys()].sort(), ["a", "b"]);
        assert.equal(await admin.stat("cluster_manager.cds.update_rejected"), 1);
      },
    );

    await scene.step("goes on at once when the rejected cluster goes", async () => {
      await folder.put({ "clusters.yaml": [cluster({ name: "a", source }), cluster({ name: "b", source })] });
      await eventually("the fixed set", async () => (await admin.stat("cluster_manager.cds.update_success")) > 0);
      assert.equal(await admin.stat("cluster_manager.cds.update_rejected"), 1);
      assert.equal((await get(port)).body, "red");
    });
  });
}

test("Envoy boots without a load assignment, and takes it later, ads-delta", { timeout: 180_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const red = await startHttpBackend(scene, "red");
  const folder = await createConfigFolder(scene.directory, {
    "clusters.yaml": [cluster({ name: "a", source }), cluster({ name: "missing", source })],
    "endpoints.yaml": [loadAssignment("a", [red.port])],
  });
  const server = await serve(scene, folder.path);
  // It is told at once that there is none: it does not wait for its 15 s to be over.
  const { admin } = await startEnvoy(scene, { path, server: server.grpc, variant: "ads-delta", withinMs: 12_000 });
  await folder.put({ "endpoints.yaml": [loadAssignment("a", [red.port]), loadAssignment("missing", [red.port])] });
  await eventually("the load assignment that came later", async () =>
    (await admin.endpoints()).get("missing")?.includes(`127.0.0.1:${red.port}`),
  );
});
