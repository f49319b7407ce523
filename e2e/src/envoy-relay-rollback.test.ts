import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createConfigFolder, type Files, type ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { relay } from "./harness/xdskit/relay.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve } from "./harness/xdskit/xdskit.js";

for (const variant of ["ads-delta", "ads-sotw"] as const)
  test(`a relay rolls back what its origin gave, and an Envoy loses no request: ${variant}`, {
    timeout: 240_000,
  }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const backends = { red: await startHttpBackend(scene, "red"), green: await startHttpBackend(scene, "green") };
    const parts = (name: "red" | "green", more: readonly ResourceText[] = []): Files => ({
      "listener.json": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
      "all.json": [
        cluster({ name, source }),
        loadAssignment(name, [backends[name].port]),
        routeConfiguration("routes", name),
        ...more,
      ],
    });
    const folder = await createConfigFolder(scene.directory, parts("red"));
    const origin = await serve(scene, folder.path);
    const grpc = `127.0.0.1:${await freePort()}`;
    const state = ["--state", join(scene.directory, "relay-state")];
    const start = () => relay(scene, "--server", origin.grpc, "--prefetch", ...state, "--grpc", grpc);
    let near = await start();
    const xdskit = (...words: readonly string[]) => runXdskit(scene, ...words, "--server", `http://${near.admin}`);
    await startEnvoy(scene, { path, server: grpc, variant });
    const load = startLoad(scene, port);
    await load.reaches("red");

    await scene.step("a rollback is served at once, with routes and endpoints, also after a restart", async () => {
      const before = await eventually("the first revision", async () => {
        const { revisions } = JSON.parse((await xdskit("history", "-o", "json", "--layer", "upstream")).out);
        return revisions.length > 0 && (revisions[0].id as string);
      });
      await folder.swap(parts("green"));
      await load.reaches("green");
      const { status, out, err } = await xdskit("rollback", before, "--wait");
      assert.equal(status, 0, out + err);
      await load.reaches("red");
      await near.process.stop();
      near = await start();
      const answered = load.answered();
      await eventually("requests are answered", async () => load.answered() > answered + 100);
      await load.reaches("red");
      assert.match(await (await fetch(`http://${near.admin}/readyz`)).text(), /is rolled back to revision/);
      assert.deepEqual(load.failures(), []);
    });

    await scene.step("the rollback ends with the next change of the origin", async () => {
      await folder.swap(parts("green", [cluster({ name: "new", source }), loadAssignment("new", [1])]));
      await load.reaches("green");
      assert.deepEqual(load.failures(), []);
    });
    await load.stop();
  });
