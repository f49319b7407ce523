import assert from "node:assert/strict";
import { test } from "node:test";
import { pools } from "../../packages/server/src/workers/worker-pool.js";
import { startEnvoy } from "./harness/envoy.js";
import { startHttpBackend } from "./harness/http-backend.js";
import { resourcesOf, startLibrary } from "./harness/library.js";
import { startLoad } from "./harness/load.js";
import { peer } from "./harness/peers.js";
import { freePort } from "./harness/ports.js";
import { cds, createRawClient, type RawStream } from "./harness/raw-client.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/resources.js";
import { createScene } from "./harness/scene.js";
import { eventually } from "./harness/wait.js";
import { clusterType, request } from "./harness/wire.js";

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy behind two workers, ${variant}`, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const resources = (moment: number) => [
      cluster({ name: `cluster-${moment}`, source, serviceName: `service-${moment}` }),
      loadAssignment(`service-${moment}`, [moment % 2 === 0 ? red.port : green.port]),
      routeConfiguration("routes", `cluster-${moment}`),
      httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true }),
    ];
    const { server, address } = await startLibrary(scene, { workers: 2 }, resources(0));
    await startEnvoy(scene, { path, server: address, variant, id: "edge" });
    const load = startLoad(scene, port);
    await load.reaches("red");
    const others: RawStream[] = [];
    /** Streams on connections of their own, until each worker has some. */
    const spread = async () => {
      while (server.stats().workers.some(({ streams }) => streams < 2)) {
        assert.ok(others.length < 500, "one worker takes all connections");
        const id = `other-${others.length}`;
        const stream = createRawClient(scene, address).open(cds);
        stream.send(request({ type: clusterType, node: id }));
        others.push(stream);
        await eventually(`${id} is known`, () => server.node(id));
      }
    };
    await spread();

    for (const worker of [1, 2]) {
      await scene.step(`worker ${worker} ends: its connections alone, and no request`, async () => {
        const before = server.stats().workers.find((each) => each.worker === worker)?.streams ?? 0;
        const wasOpen = others.filter((stream) => stream.isOpen()).length;
        const hadEnvoy = server.node("edge")?.streams[0]?.stream.id;
        let closed = 0;
        const stop = server.on(({ kind }) => {
          if (kind === "stream-closed") closed += 1;
        });
        await pools.get(server)?.kill(worker);
        await eventually("its place is taken", () => {
          const now = server.stats().workers.find((each) => each.worker === worker);
          return now?.isUp === true && now.restarts === 1;
        });
        await eventually("Envoy is there", () => server.node("edge")?.state === "synced");
        stop();
        assert.equal(closed, before);
        const isEnvoys = hadEnvoy === server.node("edge")?.streams[0]?.stream.id ? 0 : 1;
        const left = wasOpen - before + isEnvoys;
        const open = () => others.filter((stream) => stream.isOpen()).length;
        await eventually("the others of that worker to be gone", () => open() === left);
        server.config.set(resourcesOf(...resources(worker)));
        await load.reaches(worker % 2 === 0 ? "red" : "green");
        await spread();
      });
    }
    await load.stop();
    assert.deepEqual(load.failures(), []);
  });
}
