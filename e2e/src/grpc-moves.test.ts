import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceText } from "./harness/basics/config-folder.js";
import { apiListener, cluster, configSource, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { grpcClientCommand, grpcClients, isOwnFault, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { startServed } from "./harness/xdskit/served.js";

const source = configSource("ads-sotw");

/** What one change leaves of what there was before: the listener, and of the others what is not named anew. */
interface World {
  readonly cluster: string;
  readonly service: string;
  readonly routes: string;
  readonly backend: string;
}

type Named = "cluster" | "service" | "routes";

for (const name of grpcClients) {
  test(`gRPC client while everything moves, ${name}`, { timeout: 240_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const backends = new Map<string, number>();
    for (const name of ["red", "green", "blue"]) backends.set(name, (await startGrpcBackend(scene, name)).port);
    const resources = (world: World): readonly ResourceText[] => [
      cluster({ name: world.cluster, source, serviceName: world.service }),
      loadAssignment(world.service, [backends.get(world.backend) ?? 0]),
      routeConfiguration(world.routes, world.cluster),
      apiListener({ name: "greeter", routeName: world.routes, source }),
    ];
    let world: World = { cluster: "cluster-0", service: "service-0", routes: "routes-0", backend: "red" };
    const served = await startServed(scene, "ads-sotw", resources(world));
    const client = await startGrpcClient(scene, {
      name,
      command,
      server: served.address,
      target: "greeter",
      pauseMs: 2,
      maxOwnFaults: 0,
    });
    const reaches = (backend: string): Promise<unknown> => {
      const seen = client.ok();
      return eventually(
        `answers from ${backend} only (failures so far: ${client.failures().slice(0, 3).join("; ") || "none"})`,
        () => {
          const last = client.lastBackends(Math.min(20, client.ok() - seen));
          return last.length === 20 && last.every((answering) => answering === backend);
        },
        { everyMs: 10 },
      );
    };

    let moves = 0;
    /** What is named gets a name that was never there before, and what had the old one goes. */
    const move = async (...renamed: readonly Named[]): Promise<void> => {
      moves += 1;
      const names = Object.fromEntries(renamed.map((kind) => [kind, `${kind}-${moves}`]));
      world = { ...world, ...names, backend: [...backends.keys()][moves % backends.size] ?? "" };
      await served.put(resources(world));
      await reaches(world.backend);
    };
    const step = (what: string, times: number, ...renamed: readonly Named[]): Promise<boolean> =>
      scene.step(`${what}, ${times} times`, async () => {
        const [calls, started] = [client.ok(), performance.now()];
        const failures: string[] = [];
        let ownFaults = 0;
        for (let time = 0; time < times; time += 1) {
          const before = client.failures().length;
          await move(...renamed);
          const failed = client.failures().slice(before);
          // Of a cluster that the client had been given before it was given the route.
          const own = failed.filter((text) => isOwnFault(name, text) && text.includes(`cluster:${world.cluster}\\`));
          ownFaults += own.length;
          failures.push(...failed.filter((text) => !own.includes(text)));
        }
        const perSecond = Math.round(((client.ok() - calls) / (performance.now() - started)) * 1_000);
        t.diagnostic(`${client.ok() - calls} calls, ${perSecond} a second, ${ownFaults} faults of its own: ${what}`);
        assert.deepEqual(failures, []);
        assert.ok(ownFaults <= times, "more faults of its own than there were moves");
      });

    const resolved = await scene.step("resolves and calls", async () => {
      await reaches("red");
    });
    if (!resolved) return;
    await step("follows a route to a new cluster while the old one goes", 20, "cluster", "service");
    await step("follows a cluster to a load assignment of another name", 5, "service");
    await step("follows a listener to routes of another name and to a new cluster", 5, "routes", "cluster", "service");

    await scene.step("does not notice when a resource ends that it no longer uses", async () => {
      const failed = client.failures().length;
      // What a client still asks for is kept for 5 s.
      await quiet(6_000);
      await reaches(world.backend);
      assert.deepEqual(client.failures().slice(failed), []);
    });
  });
}
