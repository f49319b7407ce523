import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/config-folder.js";
import { startEnvoy } from "./harness/envoy.js";
import { startHttpBackend } from "./harness/http-backend.js";
import { startLoad } from "./harness/load.js";
import { peer } from "./harness/peers.js";
import { freePort } from "./harness/ports.js";
import {
  cluster,
  configSource,
  httpListener,
  loadAssignment,
  routeConfiguration,
  variants,
} from "./harness/resources.js";
import { createScene } from "./harness/scene.js";
import { startServed } from "./harness/served.js";
import { eventually, quiet } from "./harness/wait.js";

/** What Envoy rejects of a cluster, though it breaks no rule of the protos: it has no policy of its own. */
const bad = "CLUSTER_PROVIDED";

for (const variant of variants) {
  test(`Envoy beside a cluster that it rejects, ${variant}`, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const blue = await startHttpBackend(scene, "blue");
    const [port, otherPort] = [await freePort(), await freePort()];
    const backend = (name: string, { port }: { port: number }, lbPolicy?: string): readonly ResourceText[] => [
      cluster({ name, source, ...(lbPolicy === undefined ? {} : { lbPolicy }) }),
      loadAssignment(name, [port]),
    ];
    /** One listener leads to one cluster, another to another. */
    const config = (
      led: readonly [string, string],
      ...clusters: readonly (readonly ResourceText[])[]
    ): readonly ResourceText[] => [
      ...clusters.flat(),
      routeConfiguration("routes", led[0]),
      routeConfiguration("other-routes", led[1]),
      httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true }),
      httpListener({ name: "other", port: otherPort, routeName: "other-routes", source, saysWhy: true }),
    ];
    const old = backend("old", red);
    const side = backend("side", blue);
    const more = backend("more", red);
    const served = await startServed(scene, variant, config(["old", "side"], old, side));
    const { admin } = await startEnvoy(scene, { path, server: served.address, variant });
    const load = startLoad(scene, port);
    const other = startLoad(scene, otherPort);
    await Promise.all([load.reaches("red"), other.reaches("blue")]);
    const rejections = (): Promise<number> => admin.stat("cluster_manager.cds.update_rejected");
    const activeClusters = async (): Promise<readonly string[]> => [...(await admin.activeClusters()).keys()].sort();
    const nothingFailed = (): void => assert.deepEqual([load.failures(), other.failures()], [[], []]);

    await scene.step("goes on with the old cluster while the one that the route moves to is rejected", async () => {
      await served.put(config(["new", "side"], backend("new", green, bad), side));
      await eventually("the rejection", async () => (await rejections()) > 0);
      await quiet(3_000);
      assert.equal(await rejections(), 1);
      assert.deepEqual(await activeClusters(), ["old", "side"]);
      await Promise.all([load.reaches("red"), other.reaches("blue")]);
      nothingFailed();
    });

    await scene.step("takes what else changes meanwhile", async () => {
      await served.put(config(["new", "more"], backend("new", green, bad), more));
      await other.reaches("red");
      await quiet(1_000);
      const count = await rejections();
      // A SotW response holds all clusters, what is rejected too: each version of them may be rejected, once. Delta sends it no second time.
      assert.ok(count <= (variant.endsWith("sotw") ? 3 : 1), `${count} rejections`);
      await quiet(2_000);
      assert.equal(await rejections(), count);
      await load.reaches("red");
      nothingFailed();
    });

    await scene.step("takes the mended cluster, then the route, and gives up the old ones", async () => {
      const before = await rejections();
      await served.put(config(["new", "more"], backend("new", green), more));
      await load.reaches("green");
      await eventually("the clusters that are left", async () => {
        assert.deepEqual(await activeClusters(), ["more", "new"]);
        return true;
      });
      await other.reaches("red");
      assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
      assert.equal(await rejections(), before);
      nothingFailed();
    });
  });
}
