import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { healthPath, startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { startServed } from "./harness/xdskit/served.js";

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy while a cluster warms, ${variant}`, { timeout: 120_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    let getWell = (): void => undefined;
    const well = new Promise<void>((resolve) => {
      getWell = resolve;
    });
    const red = await startHttpBackend(scene, "red");
    const blue = await startHttpBackend(scene, "blue");
    const slow = await startHttpBackend(scene, "slow", well);
    const [port, otherPort] = [await freePort(), await freePort()];
    const config = (led: readonly [string, string], ...more: readonly ResourceText[]): readonly ResourceText[] => [
      ...more,
      ...[cluster({ name: "red", source }), loadAssignment("red", [red.port])],
      ...[cluster({ name: "blue", source }), loadAssignment("blue", [blue.port])],
      routeConfiguration("routes", led[0]),
      routeConfiguration("other-routes", led[1]),
      httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true }),
      httpListener({ name: "other", port: otherPort, routeName: "other-routes", source, saysWhy: true }),
    ];
    const old = [cluster({ name: "old", source }), loadAssignment("old", [red.port])];
    /** It warms until the backend has said that it is well. */
    const checked = [cluster({ name: "slow", source, healthPath }), loadAssignment("slow", [slow.port])];
    const served = await startServed(scene, variant, config(["old", "red"], ...old));
    const { admin } = await startEnvoy(scene, { path, server: served.address, variant });
    const load = startLoad(scene, port);
    const other = startLoad(scene, otherPort);
    await Promise.all([load.reaches("red"), other.reaches("red")]);

    await scene.step("leads to it only once it is warm, and holds up no other route", async () => {
      await served.put(config(["slow", "blue"], ...checked));
      await eventually("a warming cluster", async () => (await admin.stat("cluster_manager.warming_clusters")) === 1);
      await other.reaches("blue");
      await served.put(config(["slow", "red"], ...checked));
      await other.reaches("red");
      await load.reaches("red");
      assert.equal(slow.served(), 0);
      assert.deepEqual([load.failures(), other.failures()], [[], []]);
      getWell();
      await load.reaches("slow");
      await eventually("the old cluster being gone", async () => !(await admin.activeClusters()).has("old"));
      await load.reaches("slow");
      assert.deepEqual([load.failures(), other.failures()], [[], []]);
    });
  });
}
