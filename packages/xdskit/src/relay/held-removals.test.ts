import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Finding, type Resource, resourceTypes } from "@xdskit/api";
import { emptySnapshot, updateSnapshot } from "@xdskit/protocol";
import {
  becomes,
  cluster,
  clusterOf,
  endpoints,
  resourcesOf,
  route,
  see,
  seeOne,
  seeRoutes,
  withStage,
} from "../testing/relayed.js";
import { createHeldRemovals } from "./held-removals.js";

const clusterType = resourceTypes.find("cluster")!;
const endpointType = resourceTypes.find("endpoint")!;

/** What is served, and what of it was told to go. */
function served(mostMs: number, ...resources: readonly object[]) {
  let snapshot = updateSnapshot(emptySnapshot(), { upsert: resourcesOf(...resources) });
  const gone: string[] = [];
  const findings: Finding[] = [];
  const report = (found: readonly Finding[]) => void findings.push(...found);
  const removals = createHeldRemovals({ snapshot: () => snapshot, mostMs, report });
  return {
    removals,
    gone,
    findings,
    put(...upsert: readonly Resource[]) {
      snapshot = updateSnapshot(snapshot, { upsert });
      removals.look();
    },
    go: (type: typeof clusterType) => (names: readonly string[]) => {
      gone.push(...names);
      snapshot = updateSnapshot(snapshot, { remove: names.map((name) => ({ type, name })) });
    },
  };
}

describe("a removal that is held back", () => {
  it("waits while something else that is served names it, and goes when nothing does", () => {
    const { removals, gone, put, go } = served(60_000, cluster("a"), cluster("b"), cluster("c"), route("r", "a"));
    assert.deepEqual(removals.free(clusterType, ["a", "b"]), ["b"]);
    removals.remove(clusterType, ["a", "b"], "anything", go(clusterType));
    assert.deepEqual(gone, ["b"]);
    assert.equal(removals.isWaiting(clusterType, "a"), true);
    put(...resourcesOf(route("r", "c")));
    assert.deepEqual(gone, ["b", "a"]);
    removals.close();
  });

  it("keeps what it names itself, though nothing else does", () => {
    const { removals, gone, put, go } = served(60_000, cluster("a"), cluster("b"), endpoints("a", 1), route("r", "a"));
    removals.remove(clusterType, ["a"], "anything", go(clusterType));
    removals.remove(endpointType, ["a"], "waiting", go(endpointType));
    assert.deepEqual(gone, []);
    put(...resourcesOf(route("r", "b")));
    assert.deepEqual(gone, ["a", "a"]);
    removals.close();
  });

  it("does not wait for the sake of what goes with it, or of what is not removed where only waiting ones count", () => {
    const { removals, gone, go } = served(60_000, cluster("a"), endpoints("a", 1));
    removals.remove(endpointType, ["a"], "waiting", go(endpointType));
    assert.deepEqual(gone, ["a"]);
    removals.close();
  });

  it("is forgotten when the resource comes again", () => {
    const { removals, gone, put, go } = served(60_000, cluster("a"), route("r", "a"));
    removals.remove(clusterType, ["a"], "anything", go(clusterType));
    removals.keep(clusterType, "a");
    put(...resourcesOf(cluster("b"), route("r", "b")));
    assert.deepEqual(gone, []);
    removals.close();
  });

  it("goes when its time is over, which is told; with no time at all it goes at once", async () => {
    const { removals, gone, findings, go } = served(20, cluster("a"), endpoints("a", 1), route("r", "a"));
    removals.remove(clusterType, ["a"], "anything", go(clusterType));
    removals.remove(endpointType, ["a"], "waiting", go(endpointType));
    await becomes(() => gone, ["a", "a"]);
    assert.match(findings[0]?.message ?? "", /removed it 0\.02 s ago, and route "r" still names it/);
    const atOnce = served(0, cluster("a"), route("r", "a"));
    assert.deepEqual(atOnce.removals.free(clusterType, ["a"]), ["a"]);
  });
});

/** A sequence of numbers from 0 up to 1 that a seed decides. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("a relay of an origin that does not order its changes", () => {
  for (const seed of [1, 2, 3]) {
    it(`never leaves a client with a route to a cluster that it has no more (seed ${seed})`, () =>
      withStage(async ({ origin, relay, client }) => {
        const random = randomOf(seed);
        const pick = (most: number) => Math.floor(random() * most);
        const routes = ["r0", "r1", "r2"];
        let targets = routes.map(() => "c0");
        const { server, address } = await origin({ ordering: false });
        server.config.set(resourcesOf(cluster("c0"), endpoints("c0", 1), ...routes.map((name) => route(name, "c0"))));
        const { address: relayed } = await relay({ kind: "grpc", address, variant: pick(2) === 0 ? "delta" : "sotw" });
        const seen = seeRoutes(client(relayed), routes);
        await becomes(() => [seen.clusters(), seen.targets()], ["c0", targets.join()]);
        let after = new Set(targets);
        for (let change = 1; change <= 15; change++) {
          targets = targets.map((target) => (pick(2) === 0 ? `c${change}-${pick(2)}` : target));
          const before = after;
          after = new Set(targets);
          server.config.update({
            upsert: resourcesOf(...[...after].flatMap((name) => [cluster(name), endpoints(name, 1)])),
          });
          const steps = [
            () =>
              void server.config.remove(
                ...[...before].filter((name) => !after.has(name)).map((name) => ({ type: "cluster", name })),
              ),
            () =>
              void server.config.update({
                upsert: resourcesOf(...routes.map((name, at) => route(name, targets[at]!))),
              }),
          ];
          if (pick(4) === 0) steps.reverse();
          for (const step of steps) {
            // Sometimes the next change comes before the last one has reached anybody.
            await new Promise((resolve) => setTimeout(resolve, pick(8)));
            step();
          }
          if (pick(3) > 0)
            await becomes(() => [seen.clusters(), seen.targets()], [[...after].sort().join(), targets.join()]);
        }
        await becomes(seen.clusters, [...new Set(targets)].sort().join());
        assert.deepEqual(seen.broken, []);
      }));
  }

  it("lets what the origin removed for good go in the end, though a route names it", () =>
    withStage(async ({ origin, relay, client, findings }) => {
      const { server, address } = await origin({ ordering: false });
      server.config.set(resourcesOf(cluster("a"), cluster("b"), route("r", "a")));
      const relayed = await relay({ kind: "grpc", address }, { holdRemovalsMs: 300 });
      const edge = client(relayed.address);
      const clusters = see(edge, "cluster");
      const target = seeOne(edge, "route", "r", clusterOf);
      await becomes(() => [clusters.names(), target()], ["a,b", "a"]);
      server.config.remove({ type: "cluster", name: "a" });
      await becomes(clusters.names, "b");
      assert.match(findings[0]?.message ?? "", /route "r" still names it/);
    }));
});
