import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { testEnvoy } from "./envoy-suite.js";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { metric } from "./harness/basics/metrics.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { get } from "./harness/traffic/traffic.js";
import { relay } from "./harness/xdskit/relay.js";
import { serve } from "./harness/xdskit/xdskit.js";

// The variants on the two sides of a relay need not be the same.
if (isLong) testEnvoy("ads-delta", { between: (scene, { grpc }) => relay(scene, "--server", grpc) });
testEnvoy("ads-sotw", { between: (scene, { grpc }) => relay(scene, "--server", grpc, "--variant", "sotw") });
testEnvoy("per-type-delta", {
  between: async (scene, { grpc }) => {
    const near = await relay(scene, "--server", grpc, "--per-type");
    return await relay(scene, "--server", near.grpc);
  },
});

test("an Envoy that boots while the origin is away gets everything from a relay's cache", {
  timeout: 120_000,
}, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const source = configSource("ads-delta");
  const [red, green] = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")];
  const port = await freePort();
  const files = (backend: number): Files => ({
    "all.json": [
      cluster({ name: "a", source }),
      loadAssignment("a", [backend]),
      routeConfiguration("routes", "a"),
      httpListener({ name: "ingress", port, routeName: "routes", source }),
    ],
  });
  const folder = await createConfigFolder(scene.directory, files(red.port));
  const origin = await serve(scene, folder.path);
  const options = ["--server", origin.grpc, "--cache", join(scene.directory, "cache"), "--prefetch"];
  const first = await relay(scene, ...options);
  await first.process.stop();
  await origin.process.stop("SIGKILL");
  const second = await relay(scene, ...options);
  const { admin } = await startEnvoy(scene, { path, server: second.grpc, variant: "ads-delta", withinMs: 12_000 });
  await eventually("an answer", async () => (await get(port)).body === "red");
  await folder.swap(files(green.port));
  const back = await serve(scene, folder.path, { grpc: origin.grpc });
  await eventually("the new endpoint", async () => (await get(port)).body === "green", { withinMs: 40_000 });
  // Nothing but the load assignment was different.
  assert.equal(await metric(back.admin, "xdskit_response_resources_total", { type: "cluster" }), 0);
  assert.equal(await admin.stat("cluster_manager.cluster_modified"), 0);
});
