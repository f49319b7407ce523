import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Watch, XdsClient } from "@xdskit/client";
import {
  becomes,
  cluster,
  clusterOf,
  endpoints,
  resourcesOf,
  route,
  seeOne,
  seeRoutes,
  withStage,
} from "./testing/relayed.js";

/** Asks as Envoy does: for all clusters, and for the endpoints of each as long as it has it. */
function likeEnvoy(client: XdsClient) {
  const watches = new Map<string, Watch>();
  const ever = new Set<string>();
  client.watchCollection("cluster", "*", {
    onChanged({ resources, upserted, removed }) {
      for (const { name } of upserted) ever.add(name);
      for (const name of resources.keys())
        if (!watches.has(name)) watches.set(name, client.watch("endpoint", name, { onChanged() {} }));
      for (const name of removed) {
        watches.get(name)?.cancel();
        watches.delete(name);
      }
    },
  });
  const target = seeOne(client, "route", "r", clusterOf);
  return { target, ever, clusters: () => [...watches.keys()].sort().join() };
}

describe("a resource that an ordering origin removed", () => {
  for (const aggregated of [true, false]) {
    it(`is given to no client of the relay that comes after it is known: ${aggregated ? "ADS" : "a stream a type"}`, () =>
      withStage(async ({ origin, relay, client }) => {
        const { server, address } = await origin();
        server.config.set(resourcesOf(cluster("old"), endpoints("old", 1), route("r", "old")));
        const { address: relayed } = await relay({ kind: "grpc", address, aggregated });
        const first = likeEnvoy(client(relayed));
        await becomes(() => [first.clusters(), first.target()], ["old", "old"]);
        const began = performance.now();
        server.config.set(resourcesOf(cluster("new"), endpoints("new", 2), route("r", "new")));
        await becomes(() => [first.clusters(), first.target()], ["new", "new"]);
        const late = client(relayed, { node: { id: "late" } });
        const second = likeEnvoy(late);
        let wasThere = false;
        const old = seeOne(late, "endpoint", "old", () => {
          wasThere = true;
          return "there";
        });
        await becomes(() => [second.clusters(), second.target(), old()], ["new", "new", "absent"]);
        assert.deepEqual([[...second.ever], wasThere], [["new"], false]);
        // The longest of the origin's waits for names is 5 s.
        const took = performance.now() - began;
        assert.ok(took < 4_000, `it took ${took} ms until all was gone`);
      }));
  }
  for (const variant of ["delta", "sotw"] as const) {
    for (const aggregated of [true, false]) {
      it(`leaves no client with a route to a cluster that it does not have: ${variant}, ${aggregated ? "ADS" : "a stream a type"}`, () =>
        withStage(async ({ origin, relay, client }) => {
          const { server, address } = await origin();
          const routes = ["r0", "r1"];
          const world = (...targets: readonly string[]) => {
            const clusters = [...new Set(targets)].flatMap((name) => [cluster(name), endpoints(name, 1)]);
            return resourcesOf(...clusters, ...targets.map((target, at) => route(`r${at}`, target)));
          };
          server.config.set(world("c", "c"));
          const { address: relayed } = await relay({ kind: "grpc", address, variant, aggregated });
          const seen = seeRoutes(client(relayed), routes);
          await becomes(() => [seen.clusters(), seen.targets()], ["c", "c,c"]);
          for (let change = 1; change <= 6; change++) {
            const targets = change % 2 === 0 ? [`c${change}`, `c${change}`] : [`c${change}`, `c${change - 1}`];
            server.config.set(world(...targets));
            const clusters = [...new Set(targets)].sort().join();
            // Every third is overtaken by the next.
            if (change % 3 > 0) await becomes(() => [seen.clusters(), seen.targets()], [clusters, targets.join()]);
          }
          await becomes(() => [seen.clusters(), seen.targets()], ["c6", "c6,c6"]);
          assert.deepEqual(seen.broken, []);
        }));
    }
  }
});
