import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { stringify } from "yaml";
import { createConfigFolder, type ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { serve } from "./harness/xdskit/xdskit.js";

for (const variant of someVariants) {
  test(`Envoy whose group gets other folders, ${variant}`, { timeout: 240_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const folder = await createConfigFolder(scene.directory, {});
    const put = (name: string, resources: readonly ResourceText[]) =>
      folder.putText(name, stringify({ resources }, { aliasDuplicateObjects: false }));
    const groups = (...folders: readonly string[]) =>
      folder.putText("xdskit.yaml", stringify({ groups: [{ name: "edge", match: {}, folders }] }));
    await mkdir(join(folder.path, "shared"));
    await put("shared/listener.yaml", [
      httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true }),
    ]);
    for (const name of ["red", "green"]) {
      const backend = await startHttpBackend(scene, name);
      await mkdir(join(folder.path, name));
      await put(`${name}/all.yaml`, [
        cluster({ name, source, serviceName: name }),
        loadAssignment(name, [backend.port]),
        routeConfiguration("routes", name),
      ]);
    }
    await groups("shared", "red");
    const server = await serve(scene, folder.path);
    const { admin } = await startEnvoy(scene, { path, server: server.grpc, variant });
    const load = startLoad(scene, port);
    await load.reaches("red");
    await scene.step("no request fails while its group moves between two folders, four times", async () => {
      for (const to of ["green", "red", "green", "red"]) {
        await groups("shared", to);
        await load.reaches(to);
        await eventually("the other cluster to be gone", async () => {
          assert.deepEqual([...(await admin.activeClusters()).keys()], [to]);
          return true;
        });
      }
      assert.deepEqual(load.failures(), []);
      if (variant.startsWith("ads")) assert.equal(await admin.stat("control_plane.connected_state"), 1);
    });
    await load.stop();
  });
}
