import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { clusterType, request } from "./harness/basics/wire.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { cds, createRawClient } from "./harness/peers/raw-client.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** Connections beside Envoy's. */
const others = 8;

/** The processes that a process started, the oldest first. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}

for (const variant of ["ads-sotw", "ads-delta"] as const) {
  test(`Envoy behind two workers that are killed in turn, ${variant}`, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const red = await startHttpBackend(scene, "red");
    const green = await startHttpBackend(scene, "green");
    const files = (moment: number) => ({
      "all.yaml": [
        cluster({ name: `cluster-${moment}`, source, serviceName: `service-${moment}` }),
        loadAssignment(`service-${moment}`, [moment % 2 === 0 ? red.port : green.port]),
        routeConfiguration("routes", `cluster-${moment}`),
        httpListener({ name: "ingress", port, routeName: "routes", source, saysWhy: true }),
      ],
    });
    const folder = await createConfigFolder(scene.directory, files(0));
    const server = await serve(scene, folder.path, { args: ["--workers", "2", "--state", "off"] });
    await startEnvoy(scene, { path, server: server.grpc, variant, id: "edge" });
    const load = startLoad(scene, port);
    await load.reaches("red");
    const workers = () => childrenOf(server.process.pid);
    assert.equal(workers().length, 2);

    for (const moment of [1, 2]) {
      await scene.step(`worker ${moment} is killed: its connections alone end, and no request fails`, async () => {
        const streams = Array.from({ length: others }, (_, index) => {
          const stream = createRawClient(scene, server.grpc).open(cds);
          stream.send(request({ type: clusterType, node: `other-${moment}-${index}` }));
          return stream;
        });
        await eventually("all are answered", () => streams.every((stream) => stream.received.length > 0));
        const [oldest = 0] = workers();
        process.kill(oldest, "SIGKILL");
        await eventually("its connections end", () => streams.some((stream) => !stream.isOpen()));
        await eventually("another takes its place", () => workers().length === 2 && !workers().includes(oldest));
        await server.process.errorLine(new RegExp(`a worker serves in the place of one that ended +worker=${moment}`));
        // Connections are given to each in turn.
        assert.ok(streams.some((stream) => stream.isOpen()));
        await folder.put(files(moment));
        await load.reaches(moment % 2 === 0 ? "red" : "green");
      });
    }
    await load.stop();
    assert.deepEqual(load.failures(), []);
    process.kill(server.process.pid, "SIGTERM");
    assert.equal((await server.process.ended).code, 0);
  });
}
