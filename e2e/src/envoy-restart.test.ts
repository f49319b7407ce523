import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { serve } from "./harness/xdskit/xdskit.js";

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy whose server is restarted with a folder that has errors, ${variant}`, { timeout: 240_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const backAndForth = [
      ["red", red],
      ["green", green],
    ] as const;
    const clusterWith = (name: string, backend: number): readonly ResourceText[] => [
      cluster({ name, source, serviceName: name }),
      loadAssignment(name, [backend]),
    ];
    const folder = await createConfigFolder(scene.directory, {
      "red.yaml": clusterWith("red", red.port),
      "routes.yaml": [routeConfiguration("routes", "red")],
      "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    });
    const grpc = `127.0.0.1:${await freePort()}`;
    const start = () => serve(scene, folder.path, { grpc, args: ["--state", `${scene.directory}/state`] });
    /** The longer the server was away, the longer Envoy waits before it tries again. */
    const startAgain = async () => {
      const again = await start();
      const isBack = async () => /"state"/.test(await (await fetch(`http://${again.admin}/api/v1/nodes`)).text());
      await eventually("Envoy is connected again", isBack, { withinMs: 40_000 });
      return again;
    };
    let server = await start();
    await startEnvoy(scene, { path, server: grpc, variant });
    const load = startLoad(scene, port);
    await load.reaches("red");

    await scene.step("no request fails while the server starts again with a typo in a file", async () => {
      await server.process.stop();
      await folder.putText(
        "routes.yaml",
        '"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nnam: a',
      );
      server = await startAgain();
      const readyz = await (await fetch(`http://${server.admin}/readyz`)).text();
      assert.match(readyz, /^degraded: .*\n.*routes\.yaml:2/);
      const answered = load.answered();
      await eventually("Envoy is connected, and serves", async () => {
        const nodes = await (await fetch(`http://${server.admin}/api/v1/nodes`)).text();
        assert.match(nodes, /"state": "synced"/);
        return load.answered() > answered + 100;
      });
      assert.deepEqual(load.failures(), []);
    });

    await scene.step("what the fixed folder says reaches it", async () => {
      await folder.put({
        "green.yaml": clusterWith("green", green.port),
        "routes.yaml": [routeConfiguration("routes", "green")],
      });
      await load.reaches("green");
      assert.equal(await (await fetch(`http://${server.admin}/readyz`)).text(), "ready\n");
      assert.deepEqual(load.failures(), []);
    });

    await scene.step("no request fails where everything moved while the server was stopped", async () => {
      for (const [to, backend] of [...backAndForth, ...(isLong ? backAndForth : [])]) {
        await server.process.stop();
        await folder.swap({
          [`${to}.yaml`]: clusterWith(to, backend.port),
          "routes.yaml": [routeConfiguration("routes", to)],
          "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
        });
        server = await startAgain();
        await load.reaches(to);
        assert.deepEqual(load.failures(), []);
      }
    });

    await scene.step("nor where another server served something else in between, to nobody", async () => {
      const moveTo = (to: string, backend: number) =>
        folder.swap({
          [`${to}.yaml`]: clusterWith(to, backend),
          "routes.yaml": [routeConfiguration("routes", to)],
          "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
        });
      for (const [to, backend] of isLong ? backAndForth : backAndForth.slice(0, 1)) {
        await server.process.stop();
        for (const between of ["blue", "violet"]) {
          await moveTo(between, backend.port);
          const alone = await serve(scene, folder.path, { args: ["--state", `${scene.directory}/state`] });
          await alone.process.stop();
        }
        await moveTo(to, backend.port);
        server = await startAgain();
        await load.reaches(to);
        assert.deepEqual(load.failures(), []);
      }
    });
    await load.stop();
  });
}
