import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Finding, resourceTypes } from "@xdskit/api";
import { emptySnapshot, namesIn, updateSnapshot } from "@xdskit/protocol";
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
} from "../../testing/relayed.js";
import type { OriginChange } from "./origin-change.js";
import { PendingChanges } from "./pending-changes.js";

const clusterType = resourceTypes.find("cluster")!;
const endpointType = resourceTypes.find("endpoint")!;

/** An aggregate cluster. */
const aggregate = (name: string, ...clusters: readonly string[]) => ({
  "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
  name,
  lbPolicy: "CLUSTER_PROVIDED",
  clusterType: {
    name: "envoy.clusters.aggregate",
    typedConfig: { "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", clusters },
  },
});

/** A listener that hands its connections to a cluster. */
const tcpListener = (name: string, clusterName: string) => ({
  "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
  name,
  address: { socketAddress: { address: "127.0.0.1", portValue: 1 } },
  filterChains: [
    {
      filters: [
        {
          name: "tcp",
          typedConfig: {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
            statPrefix: name,
            cluster: clusterName,
          },
        },
      ],
    },
  ],
});

/**
 * The served resources of an origin that is asked for all clusters, and the order in which the origin's changes came
 * into them.
 */
function served(maxMs: number, ...resources: readonly object[]) {
  let snapshot = updateSnapshot(emptySnapshot(), { upsert: resourcesOf(...resources) });
  const log: string[] = [];
  const findings: Finding[] = [];
  const changes = new PendingChanges({
    snapshot: () => snapshot,
    names: () => namesIn(snapshot),
    mayCome: ({ type }) => type === clusterType.typeUrl,
    types: resourceTypes,
    maxMs,
    isAway: false,
    report: (found) => void findings.push(...found),
  });
  const serve = (served: readonly OriginChange[]) => {
    log.push(served.map(({ name, resource }) => (resource === undefined ? `-${name}` : name)).join(" "));
    const upsert = served.flatMap(({ resource }) => resource ?? []);
    const remove = served.filter(({ resource }) => resource === undefined);
    snapshot = updateSnapshot(snapshot, { upsert, remove });
  };
  const serveOfLayer = (served: readonly OriginChange[]) => {
    changes.isRolledBack = false;
    serve(served);
  };
  return {
    /** An older revision is served, until a change of the layer. */
    rollBack(): void {
      changes.isRolledBack = true;
    },
    changes,
    log,
    findings,
    /** One change of the origin. */
    put(...texts: readonly object[]) {
      const upserted = resourcesOf(...texts).map((resource) => ({ type: resource.type, name: resource.key, resource }));
      changes.take(upserted, { removals: "if named", endsRollback: true }, serveOfLayer);
    },
    /** One resource that a client asked for by name. */
    supply(text: object) {
      const [resource] = resourcesOf(text);
      assert.ok(resource !== undefined);
      const change = { type: resource.type, name: resource.key, resource };
      changes.take([change], { removals: "if named by what waits", endsRollback: false }, serve);
    },
    remove(type: typeof clusterType, ...names: readonly string[]) {
      const removed = names.map((name) => ({ type, name, resource: undefined }));
      const removals = type === clusterType ? "if named" : "if named by what waits";
      changes.take(removed, { removals, endsRollback: true }, serveOfLayer);
    },
    targetOf: (name: string) => snapshot.of(resourceTypes.find("route")!).get(name)?.references[0]?.name,
  };
}

describe("a removal that is held back", () => {
  it("waits while another served resource names it, and goes when none does", () => {
    const { changes, log, put, remove } = served(60_000, cluster("a"), cluster("b"), cluster("c"), route("r", "a"));
    remove(clusterType, "a", "b");
    assert.deepEqual(log, ["-b"]);
    assert.equal(changes.isWaiting(clusterType, "a"), true);
    put(route("r", "c"));
    assert.deepEqual(log, ["-b", "r", "-a"]);
    changes.close();
  });

  it("keeps the resources that it names itself, though nothing else names them", () => {
    const { changes, log, put, remove } = served(
      60_000,
      cluster("a"),
      cluster("b"),
      endpoints("a", 1),
      route("r", "a"),
    );
    remove(clusterType, "a");
    remove(endpointType, "a");
    assert.deepEqual(log, []);
    put(route("r", "b"));
    assert.deepEqual(log, ["r", "-a -a"]);
    changes.close();
  });

  it("does not wait for a resource that goes with it, or for one that stays if only waiting ones count", () => {
    const { changes, log, remove } = served(60_000, cluster("a"), endpoints("a", 1));
    remove(endpointType, "a");
    assert.deepEqual(log, ["-a"]);
    changes.close();
  });

  it("is forgotten when the resource comes again", () => {
    const { changes, log, put, remove } = served(60_000, cluster("a"), route("r", "a"));
    remove(clusterType, "a");
    put(cluster("a"));
    put(cluster("b"), route("r", "b"));
    assert.deepEqual(log, ["a", "b r"]);
    changes.close();
  });

  it("goes when its time is over, which is told; with no time at all it goes at once", async () => {
    const { log, findings, remove } = served(20, cluster("a"), endpoints("a", 1), route("r", "a"));
    remove(clusterType, "a");
    remove(endpointType, "a");
    await becomes(() => log.join(" "), "-a -a");
    assert.match(findings[0]?.message ?? "", /removed it 0\.02 s ago, and route "r" still names it/);
    const atOnce = served(0, cluster("a"), route("r", "a"));
    atOnce.remove(clusterType, "a");
    assert.deepEqual(atOnce.log, ["-a"]);
  });
});

describe("a resource that is held back", () => {
  it("keeps its old content, or stays out, until all its new names are there", () => {
    const { changes, log, put, remove, targetOf } = served(60_000, cluster("a"), route("r", "a"));
    put(route("r", "b"), route("new", "b"), route("other", "a"));
    assert.deepEqual([log, targetOf("r")], [["other"], "a"]);
    assert.equal(changes.isWaiting(resourceTypes.find("route")!, "new"), true);
    put(route("other", "c"));
    // A resource that is still as before keeps the resources that it names.
    remove(clusterType, "a");
    put(cluster("b"));
    assert.deepEqual(log, ["other", "b", "r new"]);
    put(cluster("c"));
    assert.deepEqual(log, ["other", "b", "r new", "c", "other", "-a"]);
    changes.close();
  });

  it("is served together with resources that come in the same change, or waits for them in turn", () => {
    const { changes, log, put } = served(60_000, cluster("a"));
    put(aggregate("x", "y"), aggregate("y", "x", "a"), aggregate("low", "b"), aggregate("high", "low"));
    put(route("r", "high"));
    assert.deepEqual(log, ["x y"]);
    put(cluster("b"));
    assert.deepEqual(log, ["x y", "b", "low high r"]);
    changes.close();
  });

  it("is replaced by the next content of the origin, or by its removal", () => {
    const { changes, log, put, remove } = served(60_000, cluster("a"), cluster("b"), route("r", "a"));
    put(route("r", "c"), route("new", "c"));
    put(route("r", "b"));
    remove(resourceTypes.find("route")!, "new");
    put(cluster("c"));
    assert.deepEqual(log, ["r", "-new", "c"]);
    changes.close();
  });

  it("does not wait for a name that nobody knows to be missing, or that something names in vain already", () => {
    const { changes, log, put } = served(60_000, route("r", "gone"));
    put(cluster("a"), route("r", "gone"), route("s", "gone"));
    assert.deepEqual(log, ["a r s"]);
    changes.close();
  });

  it("is served when its time is over, which is told once: nobody waits for that name again before it came", async () => {
    const { changes, log, findings, put, remove } = served(30, cluster("a"), route("r", "a"));
    put(route("r", "b"));
    put(route("r", "b"));
    await becomes(() => log.join(" "), "r");
    assert.deepEqual(
      findings.map(({ resource, message }) => [resource, message]),
      [["r", 'it names cluster "b", which the origin did not send within 0.03 s: it is served now without']],
    );
    remove(resourceTypes.find("route")!, "r");
    put(route("r", "b"));
    assert.deepEqual(log, ["r", "-r", "r"]);
    put(cluster("b"));
    remove(resourceTypes.find("route")!, "r");
    remove(clusterType, "b");
    put(route("r", "b"));
    assert.deepEqual(log, ["r", "-r", "r", "b", "-r", "-b"]);
    changes.close();
  });
});

describe("a resource that is held back in a layer, and that a client asks for by name", () => {
  it("is served in both places once its names are there", async () => {
    const { changes, log, put, supply } = served(60_000, cluster("a"));
    put(route("n", "c"));
    supply(route("n", "c"));
    put(cluster("c"));
    await becomes(() => log.join(), "c,n,n");
    assert.equal(changes.isWaiting(resourceTypes.find("route")!, "n"), false);
    changes.close();
  });

  it("is served in both places when its time is over", async () => {
    const { changes, log, put, supply } = served(20, cluster("a"));
    put(route("n", "c"));
    supply(route("n", "c"));
    await becomes(() => log.join(), "n,n");
    changes.close();
  });

  it("still comes into the layer after a rollback in which the client asked", async () => {
    const { changes, log, put, rollBack, supply } = served(60_000, cluster("a"));
    put(route("n", "c"));
    rollBack();
    supply(route("n", "c"));
    assert.deepEqual(log, ["n"]);
    put(cluster("c"));
    await becomes(() => log.join(), "n,c,n");
    changes.close();
  });
});

describe("changes that are held back when an older revision is served", () => {
  const later = () => new Promise((resolve) => setTimeout(resolve, 100));

  it("wait on until the origin changes something", async () => {
    const { changes, log, put, remove, rollBack } = served(20, cluster("a"), cluster("b"), route("r", "a"));
    remove(clusterType, "a");
    put(route("new", "c"));
    rollBack();
    changes.look();
    await later();
    assert.deepEqual(log, []);
    put(route("r", "b"));
    await becomes(() => log.join(), "r,-a,new");
    changes.close();
  });

  it("are not served after newer ones of the same resource", async () => {
    const { changes, log, put, remove, rollBack, targetOf } = served(20, cluster("a"), cluster("b"), route("r", "a"));
    remove(clusterType, "a");
    put(route("r", "c"));
    rollBack();
    put(cluster("a", "2s"), route("r", "b"));
    await later();
    put(cluster("c"));
    assert.deepEqual([log, targetOf("r")], [["a r", "c"], "b"]);
    changes.close();
  });

  it("are served in their time all the same if a client asked for them by name", async () => {
    const { changes, log, remove, rollBack, supply } = served(20, cluster("a"), route("r", "a"));
    remove(clusterType, "a");
    supply(route("asked", "c"));
    rollBack();
    await becomes(() => log.join(), "asked");
    assert.equal(changes.isWaiting(clusterType, "a"), true);
    changes.close();
  });

  it("do not count as there for a resource that a client asked for by name, before the rollback is over", () => {
    const { changes, log, put, rollBack, supply } = served(60_000, cluster("a"), route("r", "a"));
    supply(route("asked", "c"));
    put(aggregate("c", "d"));
    rollBack();
    // From now on "c" waits for the end of the rollback alone.
    supply(cluster("d"));
    changes.look();
    assert.deepEqual(log, ["d"]);
    put(cluster("a", "2s"));
    assert.deepEqual(
      [log.slice(0, 2), log.slice(2).sort()],
      [
        ["d", "a"],
        ["asked", "c"],
      ],
    );
    changes.close();
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
    it(`never leaves a client with a route to a cluster that it lost (seed ${seed})`, () =>
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
          const coming = [...after].flatMap((name) => [cluster(name), endpoints(name, 1)]);
          const going = [...before].filter((name) => !after.has(name)).map((name) => ({ type: "cluster", name }));
          const steps = [
            () => void server.config.update({ upsert: resourcesOf(...coming) }),
            () => void server.config.remove(...going),
            () =>
              void server.config.update({
                upsert: resourcesOf(...routes.map((name, at) => route(name, targets[at]!))),
              }),
          ];
          // In any order.
          steps.push(...steps.splice(0, pick(3)));
          if (pick(2) === 0) steps.reverse();
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

  it("lets a resource go in the end that the origin removed for good, though a route names it", () =>
    withStage(async ({ origin, relay, client, findings }) => {
      const { server, address } = await origin({ ordering: false });
      server.config.set(resourcesOf(cluster("a"), cluster("b"), route("r", "a")));
      const relayed = await relay({ kind: "grpc", address }, { holdMs: 300 });
      const edge = client(relayed.address);
      const clusters = see(edge, "cluster");
      const target = seeOne(edge, "route", "r", clusterOf);
      await becomes(() => [clusters.names(), target()], ["a,b", "a"]);
      server.config.remove({ type: "cluster", name: "a" });
      await becomes(clusters.names, "b");
      assert.match(findings[0]?.message ?? "", /route "r" still names it/);
    }));

  it("waits for nothing at a start, and later only once for a name that never comes", () =>
    withStage(async ({ origin, relay, client, findings }) => {
      const { server, address } = await origin({ ordering: false });
      server.config.set(resourcesOf(cluster("a"), tcpListener("l", "own"), route("r", "elsewhere")));
      const began = performance.now();
      const relayed = await relay({ kind: "grpc", address }, { holdMs: 300 });
      const edge = client(relayed.address);
      const listeners = see(edge, "listener");
      await becomes(listeners.names, "l");
      assert.equal(findings.length, 0);
      const target = seeOne(edge, "route", "r", clusterOf);
      await becomes(target, "elsewhere");
      assert.ok(performance.now() - began >= 300);
      assert.match(findings[0]?.message ?? "", /names cluster "elsewhere", which the origin did not send/);
      server.config.update({ upsert: resourcesOf(tcpListener("m", "own"), route("s", "elsewhere")) });
      const other = seeOne(edge, "route", "s", clusterOf);
      await becomes(() => [listeners.names(), other()], ["l,m", "elsewhere"]);
      assert.equal(findings.length, 1);
    }));
});
