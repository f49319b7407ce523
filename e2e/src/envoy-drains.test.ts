import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import {
  cluster,
  configSource,
  httpListener,
  listener,
  loadAssignment,
  routeConfiguration,
  routesTo,
} from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { startLoad } from "./harness/traffic/load.js";
import { resourcesOf, startLibrary } from "./harness/xdskit/library.js";

/** How long this Envoy drains a listener. The server allows more, which must not matter: Envoy says when it is over. */
const drainSeconds = 2;

for (const variant of ["ads-delta", "per-type-sotw"] as const) {
  test(`Envoy drains a listener, ${variant}`, { timeout: 60_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const [port, inlinePort] = [await freePort(), await freePort()];
    const [red, blue] = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "blue")];
    /** Two listeners, one with routes of its own. */
    const world = (name: string, to: number): readonly ResourceText[] => [
      ...[cluster({ name: `named-${name}`, source }), loadAssignment(`named-${name}`, [to])],
      ...[cluster({ name: `inline-${name}`, source }), loadAssignment(`inline-${name}`, [to])],
      routeConfiguration(`routes-${name}`, `named-${name}`),
      httpListener({ name: "named", port, routeName: `routes-${name}`, source, saysWhy: true }),
      listener({ name: "inline", port: inlinePort, routes: routesTo(`inline-${name}`), saysWhy: true }),
    ];
    const drainMs = 5 * drainSeconds * 1_000;
    const { server, address } = await startLibrary(scene, { ordering: { drainMs } }, world("red", red.port));
    const { admin } = await startEnvoy(scene, { path, server: address, variant, drainSeconds });
    const loads = [startLoad(scene, port), startLoad(scene, inlinePort)];
    for (const load of loads) await load.reaches("red");

    await scene.step("keeps its connections, and loses their resources once it asks for them no more", async () => {
      const started = performance.now();
      server.config.set(resourcesOf(...world("blue", blue.port)));
      await eventually("the new routes", async () => (await admin.routes()).has("routes-blue"));
      // Envoy asks its clients to leave bit by bit.
      for (const load of loads) await load.reaches("blue");
      const isSynced = () => eventually("a node that is synced", () => server.nodes()[0]?.state === "synced");
      await isSynced();
      const clusters = async () => [...(await admin.activeClusters()).keys()].sort();
      await eventually("the end of the routes", async () => !(await admin.routes()).has("routes-red"), { everyMs: 50 });
      const drained = performance.now() - started;
      t.diagnostic(`the old routes were gone after ${Math.round(drained)} ms`);
      assert.ok(drained > drainSeconds * 800, "they were gone before Envoy drained them");
      await eventually("the end of their cluster", async () => !(await clusters()).includes("named-red"), {
        everyMs: 50,
      });
      // A stream of one type that ends may come back for longer than the server's whole time.
      if (variant === "ads-delta") assert.deepEqual(await clusters(), ["inline-blue", "inline-red", "named-blue"]);
      else assert.ok(performance.now() - started > drainMs, "its cluster went while its stream might come back");
      await eventually("the end of the other one", async () => !(await clusters()).includes("inline-red"));
      assert.ok(performance.now() - started > drainMs, "it was gone before the server's time was over");
      assert.deepEqual(
        loads.flatMap((load) => load.failures()),
        [],
      );
      await isSynced();
    });
  });
}
