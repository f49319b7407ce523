import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { someVariants } from "./harness/basics/effort.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { cluster, configSource, httpListener, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";
import { type Load, startLoad } from "./harness/traffic/load.js";
import { startServed } from "./harness/xdskit/served.js";

/**
 * What one change leaves of what there was before: nothing but the listener, and that with other routes where they are
 * named anew.
 */
interface World {
  readonly cluster: string;
  readonly service: string;
  readonly routes: string;
  readonly backend: string;
}

for (const variant of someVariants) {
  test(`Envoy while everything moves, ${variant}`, { timeout: 300_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const backends = new Map<string, number>();
    for (const name of ["red", "green", "blue"]) backends.set(name, (await startHttpBackend(scene, name)).port);

    const resources = (world: World): readonly ResourceText[] => [
      cluster({ name: world.cluster, source, serviceName: world.service }),
      loadAssignment(world.service, [backends.get(world.backend) ?? 0]),
      routeConfiguration(world.routes, world.cluster),
      httpListener({ name: "ingress", port, routeName: world.routes, source, saysWhy: true }),
    ];
    let world: World = { cluster: "cluster-0", service: "service-0", routes: "routes-0", backend: "red" };
    const served = await startServed(scene, variant, resources(world));
    const { admin } = await startEnvoy(scene, { path, server: served.address, variant });
    const load = startLoad(scene, port);
    /** Their connections are kept as long as Envoy lets them be: those of listeners that were replaced, too. */
    const kept: Load[] = [];
    const keep = (): void => void kept.push(startLoad(scene, port, { lanes: 2, pauseMs: 60 }));
    keep();
    await load.reaches("red");

    let moves = 0;
    /** What is named gets a name that was never there before, and what had the old one goes. */
    const move = async (...renamed: readonly ("cluster" | "service" | "routes")[]): Promise<void> => {
      moves += 1;
      const names = Object.fromEntries(renamed.map((kind) => [kind, `${kind}-${moves}`]));
      world = { ...world, ...names, backend: [...backends.keys()][moves % backends.size] ?? "" };
      await served.put(resources(world));
    };
    const noneFails = (): void =>
      assert.deepEqual(
        kept.concat(load).flatMap((one) => one.failures()),
        [],
      );
    const step = (name: string, run: () => Promise<void>): Promise<boolean> =>
      scene.step(name, async () => {
        const answered = load.answered();
        const started = performance.now();
        await run();
        const perSecond = ((load.answered() - answered) / (performance.now() - started)) * 1_000;
        t.diagnostic(`${load.answered() - answered} requests, ${Math.round(perSecond)} a second: ${name}`);
        noneFails();
        await eventually("nothing but the last configuration, and what old listeners still serve by", async () => {
          const clusters = [...(await admin.activeClusters()).keys()].sort();
          const routes = [...(await admin.routes()).keys()].sort();
          assert.deepEqual(
            [clusters, routes],
            [[...draining.clusters, world.cluster].sort(), [...draining.routes, world.routes].sort()],
          );
          assert.equal(await admin.stat("cluster_manager.warming_clusters"), 0);
          return true;
        });
        noneFails();
      });
    /** What listeners named that were replaced. */
    const draining = { clusters: new Set<string>(), routes: new Set<string>() };
    const moveListener = async (): Promise<void> => {
      draining.clusters.add(world.cluster);
      draining.routes.add(world.routes);
      await move("routes", "cluster", "service");
    };

    const moveRoutes = async (count: number): Promise<void> => {
      for (let times = 0; times < count; times += 1) {
        await move("cluster", "service");
        await load.reaches(world.backend);
      }
    };

    await step("takes a route to a new cluster while the old one goes, 10 times", () => moveRoutes(10));

    await step("takes a cluster to a load assignment of another name, 10 times", async () => {
      for (let times = 0; times < 10; times += 1) {
        await move("service");
        await load.reaches(world.backend);
      }
    });

    // While the old listeners drain: everybody who comes with the last one goes on to be served by it.
    await step("takes a listener to routes of another name and to a new cluster, 10 times", async () => {
      for (let times = 0; times < 10; times += 1) {
        const seen = kept.at(-1)?.answered() ?? 0;
        await eventually("answers to those who stay", () => (kept.at(-1)?.answered() ?? 0) > seen + 4);
        await moveListener();
        await eventually("the new listener's routes", async () => (await admin.routes()).has(world.routes));
        load.reconnect();
        await load.reaches(world.backend);
        keep();
      }
    });

    // For longer than anything stays with a client that is not Envoy.
    await step("takes routes to new clusters while old listeners drain, 50 times", () => moveRoutes(50));

    await step("takes changes that overtake each other", async () => {
      for (let times = 0; times < 30; times += 1) {
        const seen = load.answered();
        // On streams of their own two clusters of one load assignment ask for it twice, and nothing tells their answers
        // apart.
        const isServiceNew = times % 2 === 0 || variant.startsWith("per-type");
        await move("cluster", ...(isServiceNew ? (["service"] as const) : []));
        await eventually("some requests", () => load.answered() > seen + 10, { everyMs: 5 });
      }
      await load.reaches(world.backend);
    });

    await scene.step("takes listeners and routes that overtake each other", async () => {
      for (let times = 0; times < 15; times += 1) {
        const seen = load.answered();
        await move("cluster", "service", ...(times % 3 === 0 ? (["routes"] as const) : []));
        if (times % 4 === 0) load.reconnect();
        await eventually("some requests", () => load.answered() > seen + 10, { everyMs: 5 });
      }
      await eventually("the last listener's routes", async () => (await admin.routes()).has(world.routes));
      load.reconnect();
      await load.reaches(world.backend);
      noneFails();
    });
    const staying = kept.map((one) => one.answered());
    await eventually("answers to all who stayed", () =>
      kept.every((one, index) => one.answered() > (staying[index] ?? 0)),
    );
    noneFails();
    t.diagnostic(`${kept.reduce((sum, one) => sum + one.answered(), 0)} requests of connections that stayed`);

    for (const rejected of ["cluster_manager.cds.update_rejected", "listener_manager.lds.update_rejected"]) {
      assert.equal(await admin.stat(rejected), 0, rejected);
    }
  });
}
