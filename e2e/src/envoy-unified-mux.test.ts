import assert from "node:assert/strict";
import { test } from "node:test";
import { testEnvoy, unifiedMux, unifiedMuxFeature } from "./envoy-suite.js";
import type { Files, ResourceText } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { metric } from "./harness/basics/metrics.js";
import {
  cluster,
  httpListener,
  loadAssignment,
  rejectedAssignment,
  routeConfiguration,
} from "./harness/basics/resources.js";
import { eventually } from "./harness/basics/wait.js";
import { setStage } from "./harness/peers/stage.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startTraffic } from "./harness/traffic/traffic.js";

/** Below the 15 s after which Envoy gives up waiting for a load assignment by itself. */
const soonMs = 12_000;

/** What a change leaves, and nothing else. */
interface World {
  readonly cluster: string;
  readonly service: string;
  readonly routes: string;
  readonly port: number;
  readonly more?: { readonly clusters?: readonly ResourceText[]; readonly endpoints?: readonly ResourceText[] };
}

if (isLong) testEnvoy("ads-sotw", { unifiedMux: true });
testEnvoy("ads-delta", { unifiedMux: true });

for (const variant of isLong ? (["ads-sotw", "ads-delta"] as const) : (["ads-delta"] as const)) {
  test(`Envoy's unified mux, ${variant}`, { timeout: 180_000 }, async (t) => {
    let ingress = 0;
    const filesOf = (world: World, source: Record<string, unknown>): Files => ({
      "clusters.yaml": [
        cluster({ name: world.cluster, source, serviceName: world.service }),
        ...(world.more?.clusters ?? []),
      ],
      "endpoints.yaml": [loadAssignment(world.service, [world.port]), ...(world.more?.endpoints ?? [])],
      "listeners.yaml": [httpListener({ name: "ingress", port: ingress, routeName: world.routes, source })],
      "routes.yaml": [routeConfiguration(world.routes, world.cluster)],
    });
    const start: World = { cluster: "a", service: "a", routes: "routes", port: 9 };
    const stage = await setStage(t, {
      variant,
      service: "endpoint",
      files: ({ source, port }) => {
        ingress = port;
        return filesOf(start, source);
      },
      bootstrap: () => unifiedMux,
    });
    if (stage === undefined) return;
    const { scene, folder, server, admin, source } = stage;
    assert.equal((await admin.runtime()).get(unifiedMuxFeature), "true");
    const red = (await startHttpBackend(scene, "red")).port;
    const green = (await startHttpBackend(scene, "green")).port;
    const put = (world: World) => folder.swap(filesOf(world, source));
    const nacks = (type: string): Promise<number> => metric(server.admin, "xdskit_nacks_total", { type });
    const portOf = async (name: string) => (await admin.endpoints()).get(name)?.join().split(":")[1];

    await scene.step("names more load assignments after it rejected one", async () => {
      await put({
        ...start,
        more: { clusters: [cluster({ name: "b", source })], endpoints: [rejectedAssignment("b")] },
      });
      await eventually("the rejection", async () => (await nacks("endpoint")) === 1, { withinMs: soonMs });
      const clusters = ["b", "c", "d"].map((name) => cluster({ name, source }));
      const endpoints = [rejectedAssignment("b"), loadAssignment("c", [10]), loadAssignment("d", [11])];
      await put({ ...start, more: { clusters, endpoints } });
      await eventually(
        "the load assignments that were named after that",
        async () => (await portOf("c")) === "10" && (await portOf("d")) === "11",
        { withinMs: soonMs },
      );
      await put({ ...start, more: { clusters, endpoints: [loadAssignment("b", [12]), ...endpoints.slice(1)] } });
      await eventually("the fixed one", async () => (await portOf("b")) === "12", { withinMs: soonMs });
    });

    await scene.step("loses no request while everything moves, after a cluster was rejected", async () => {
      let world: World = { ...start, port: red };
      await put(world);
      const traffic = startTraffic(scene, ingress);
      const answersFrom = (name: string) =>
        eventually(`answers from ${name}`, () => traffic.lastBackends(1)[0] === name, { withinMs: soonMs });
      await answersFrom("red");
      const failed = traffic.failures().length;
      const bad = cluster({ name: "bad", source, isRejected: true });
      await put({ ...world, more: { clusters: [bad] } });
      await eventually("the rejection", async () => (await nacks("cluster")) === 1, { withinMs: soonMs });
      for (let move = 1; move <= 6; move += 1) {
        const name = `moved-${move}`;
        world = { cluster: name, service: name, routes: name, port: move % 2 === 0 ? red : green };
        await put(move < 3 ? { ...world, more: { clusters: [bad] } } : world);
        await answersFrom(move % 2 === 0 ? "red" : "green");
      }
      // What the first listeners named stays as long as they drain.
      const clusters = await admin.activeClusters();
      assert.deepEqual([clusters.has("moved-6"), clusters.has("bad")], [true, false]);
      assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
      await traffic.stop();
      assert.deepEqual(traffic.failures().slice(failed), []);
    });
  });
}
