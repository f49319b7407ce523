import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { isLong } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { randomFrom } from "./harness/basics/random.js";
import { configSource, httpListener } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { MovingRoutes } from "./harness/traffic/moving-routes.js";
import { changeByApi } from "./harness/xdskit/api-change.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** `SEED=7` kills at the moments of a run before. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1_000_000));
const kills = isLong ? 5 : 2;

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy whose server is killed at any moment of a change, ${variant}`, { timeout: 240_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    t.diagnostic(`SEED=${seed}`);
    const random = randomFrom(seed);
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const backends = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")] as const;
    const folder = await createConfigFolder(scene.directory, {
      "listener.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true })],
    });
    const grpc = `127.0.0.1:${await freePort()}`;
    const start = () => serve(scene, folder.path, { grpc, args: ["--state", `${scene.directory}/state`] });
    let server = await start();
    const change = async (body: object) => {
      const response = await changeByApi(server, body);
      assert.ok(response.ok, await response.text());
    };
    const routes = new MovingRoutes({ source, backends, change });
    await routes.write();
    await startEnvoy(scene, { path, server: grpc, variant });
    const load = startLoad(scene, port);
    const reaches = () => load.reaches(routes.backend.name);
    await reaches();

    for (let kill = 1; kill <= kills; kill += 1) {
      await scene.step(`no request fails when it is killed in the middle of a change, ${kill}`, async () => {
        for (let changes = 0; changes < 3; changes += 1) {
          await sleep(500);
          await routes.write();
        }
        // A change reaches Envoy within some milliseconds.
        await sleep(random(15));
        await server.process.stop("SIGKILL");
        server = await start();
        // The next change comes before Envoy is back.
        await routes.write();
        await reaches();
        assert.deepEqual(load.failures(), []);
      });
    }
    t.diagnostic(`${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
  });
}
