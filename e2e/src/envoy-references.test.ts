import assert from "node:assert/strict";
import { test } from "node:test";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
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
  test(`Envoy whose used resources are removed from the folder, ${variant}`, { timeout: 240_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const clusterWith = (name: string, backend: number): readonly ResourceText[] => [
      cluster({ name, source, serviceName: name }),
      loadAssignment(name, [backend]),
    ];
    const files = {
      "red.yaml": clusterWith("red", red.port),
      "routes.yaml": [routeConfiguration("routes", "red")],
      "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    };
    const folder = await createConfigFolder(scene.directory, files);
    const server = await serve(scene, folder.path);
    await startEnvoy(scene, { path, server: server.grpc, variant });
    const load = startLoad(scene, port);
    await load.reaches("red");

    const isState = (state: string) =>
      eventually(`the folder to be ${state}`, async () => {
        const sources = await (await fetch(`http://${server.admin}/api/v1/sources`)).text();
        assert.match(sources, new RegExp(`"state": "${state}"`));
        return true;
      });
    const noneFails = async () => {
      const answered = load.answered();
      await eventually("further answers", () => load.answered() > answered + 200);
      assert.deepEqual(load.failures(), []);
    };

    await scene.step("no request fails when its cluster, or its routes, are deleted: both are refused", async () => {
      for (const gone of ["red.yaml", "routes.yaml"] as const) {
        await folder.remove(gone);
        await isState("refused");
        await noneFails();
        await folder.put({ [gone]: files[gone] });
        await isState("applied");
      }
    });

    await scene.step(
      "no request fails when the cluster goes in one edit and the routes follow in another",
      async () => {
        await folder.remove("red.yaml");
        await isState("refused");
        await folder.put({
          "green.yaml": clusterWith("green", green.port),
          "routes.yaml": [routeConfiguration("routes", "green")],
        });
        await isState("applied");
        await load.reaches("green");
        await noneFails();
      },
    );
    await load.stop();
  });
}
