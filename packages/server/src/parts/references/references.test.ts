import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { createResource, envoyRegistry, type Finding, resourceTypes, XdskitError } from "@xdskit/api";
import type { ServerOptions } from "../../contracts/server-options.js";
import type { LayerUpdate, Source, SourceSink } from "../../contracts/source.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { createServer } from "../../create-server.js";
import type { GroupSettings } from "../../settings/group-settings.js";
import { KeptSource } from "../../stores/kept/kept-source.js";
import { createMemoryStore } from "../../stores/tables/memory-store.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { cluster, loadAssignment, routeConfiguration, routedListener } from "../../testing/test-resources.js";

const removed = (type: string, name: string) => ({ type, name });

async function withRefusing(options: ServerOptions, test: (server: XdsServer) => Promise<void> | void): Promise<void> {
  const server = createServer({ references: "refuse", ...options });
  try {
    await test(server);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

/** The findings of the refusal of a change. */
function refusal(change: () => void): readonly Finding[] {
  let found: readonly Finding[] = [];
  assert.throws(change, (error) => {
    assert.ok(error instanceof XdskitError);
    assert.equal(error.code, "XDSKIT_REFERENCE_BROKEN");
    found = error.findings;
    return true;
  });
  return found;
}

function names(server: XdsServer, group = "all"): readonly string[] {
  const sets = server.snapshotOf(group)?.sets.values() ?? [];
  return [...sets].flatMap((set) => Array.from(set, ({ type, name }) => `${type.name} ${name}`)).sort();
}

/** A source that a test plays: it applies all that it wants, and still wants it after a refusal. */
function wishing(name: string, ...messages: readonly Message[]) {
  let sink: SourceSink | undefined;
  let since: readonly LayerUpdate[] | undefined;
  let wanted: readonly Message[] = messages;
  let retries = 0;
  const apply = () => {
    const upsert = wanted.map((message) => createResource(message));
    try {
      sink?.apply([{ layer: name, kind: "replace", upsert }], { since });
      sink?.report([]);
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      sink?.report(error.findings);
    }
  };
  const source: Source = {
    name,
    async start(into) {
      sink = into;
      apply();
    },
    retry() {
      retries += 1;
      apply();
    },
    async close() {},
  };
  return {
    source,
    want(...next: readonly Message[]) {
      wanted = next;
      apply();
    },
    /** It says that it had this before a restart. `restore` serves that. */
    restarts(...before: readonly Message[]) {
      const upsert = before.map((message) => createResource(message));
      since = [{ layer: name, kind: "replace", upsert }];
    },
    restore() {
      sink?.apply(since ?? [], { isRestored: true });
    },
    get retries() {
      return retries;
    },
  };
}

async function waitForIt(what: string, passes: () => Promise<boolean>): Promise<void> {
  let isSo = false;
  await waitFor(what, () => {
    void passes().then((now) => {
      isSo = now;
    });
    return isSo;
  });
}

describe("a server with references: refuse", () => {
  it("refuses a change as a whole that removes a cluster which a route names, and names the route", () =>
    withRefusing({}, ({ config, snapshotOf, ...server }) => {
      config.set([cluster("a"), cluster("b"), routeConfiguration("r", "a")]);
      const [finding, ...more] = refusal(() =>
        config.update({ upsert: [cluster("c")], remove: [removed("cluster", "a"), removed("cluster", "b")] }),
      );
      assert.deepEqual(more, []);
      assert.deepEqual([finding?.severity, finding?.type, finding?.resource], ["error", "route", "r"]);
      assert.match(finding?.message ?? "", /^names cluster "a", which this change takes from group all; keep it, or /);
      assert.deepEqual(names({ snapshotOf } as XdsServer), ["cluster a", "cluster b", "route r"]);
      assert.equal(server.stats().configuration.refused, 1);
      // In either order, or at once.
      config.update({ upsert: [routeConfiguration("r", "b")], remove: [removed("cluster", "a")] });
      config.update({ remove: [removed("route", "r"), removed("cluster", "b")] });
      assert.deepEqual(names({ snapshotOf } as XdsServer), []);
    }));

  it("refuses it for every kind of reference except load assignments and collections, also by `set` and `drop`", () =>
    withRefusing({}, (server) => {
      const { config } = server;
      const own = [routedListener("l", "r"), routeConfiguration("r", "a"), cluster("a"), loadAssignment("a", 1)];
      config.set(own);
      const [r] = refusal(() => config.set(own.filter(({ $typeName }) => !$typeName.includes("RouteConfiguration"))));
      assert.deepEqual([r?.type, r?.resource], ["listener", "l"]);
      config.remove(removed("endpoint", "a"));
      config.layer("upper").set([cluster("x")]);
      config.update({ upsert: [routeConfiguration("r", "x")] });
      const [x] = refusal(() => config.layer("upper").drop());
      assert.deepEqual([x?.type, x?.resource], ["route", "r"]);
      assert.ok(names(server).includes("cluster x"));
    }));

  it("does not miss a resource that never existed, and applies other changes", () =>
    withRefusing({}, (server) => {
      server.config.set([cluster("a"), routeConfiguration("r", "never"), routeConfiguration("s", "a")]);
      server.config.update({ upsert: [routeConfiguration("s", "typo")] });
      server.config.remove(removed("cluster", "a"), removed("route", "r"));
      assert.deepEqual(names(server), ["route s"]);
    }));

  it("lists some of very many referrers, and the number of further resources", () =>
    withRefusing({}, ({ config }) => {
      const count = 150;
      const many = Array.from({ length: count }, (_, index) => [
        cluster(`c${index}`),
        ...["r", "s", "t", "u", "v"].map((word) => routeConfiguration(`${word}${index}`, `c${index}`)),
      ]);
      config.set(many.flat());
      const found = refusal(() =>
        config.remove(...Array.from({ length: count }, (_, index) => removed("cluster", `c${index}`))),
      );
      assert.equal(found.length, 101);
      assert.match(found[0]?.message ?? "", /^names cluster "c0", as route "s0", route "t0", more do, which/);
      assert.match(found[100]?.message ?? "", /^50 further resources/);
    }));

  it("judges each group by its own layers: a resource that a lower layer still has does not go", () => {
    const groups: GroupSettings[] = [
      { name: "edge", match: { cluster: "edge" }, layers: ["shared", "edge"] },
      { name: "other", match: { cluster: "other" }, layers: ["shared", "edge"] },
      { name: "rest", match: {}, layers: ["shared"] },
    ];
    return withRefusing({ groups }, (server) => {
      const [shared, edge] = ["shared", "edge"].map((name) => server.config.layer(name));
      shared?.set([cluster("a"), cluster("b", "lower")]);
      edge?.set([cluster("b", "upper"), routeConfiguration("r", "a"), routeConfiguration("s", "b")]);
      edge?.remove(removed("cluster", "b"));
      const [a] = refusal(() => shared?.remove(removed("cluster", "a")));
      assert.match(a?.message ?? "", /takes from groups edge, other;/);
      edge?.update({ upsert: [cluster("a")] });
      shared?.remove(removed("cluster", "a"));
      assert.deepEqual(names(server, "rest"), ["cluster b"]);
    });
  });

  it("says beforehand why a change would be refused, and changes nothing", () =>
    withRefusing({ authorities: ["here"] }, (server) => {
      server.config.set([cluster("a"), routeConfiguration("r", "a")]);
      const [resource] = [...(server.snapshotOf("all")?.sets.values() ?? [])].flatMap((set) => [...set]);
      assert.ok(resource);
      const patch = (change: Omit<LayerUpdate, "layer" | "kind">): LayerUpdate[] => [
        { layer: "default", kind: "patch", ...change },
      ];
      const remove = [{ type: resource.type, name: "a" }];
      const codes = (updates: readonly LayerUpdate[]) => server.checkChange(updates).map(({ code }) => code);
      assert.deepEqual(codes(patch({ upsert: [], remove })), ["XDSKIT_REFERENCE_BROKEN"]);
      assert.deepEqual(codes(patch({ upsert: [resource, resource] })), ["XDSKIT_DUPLICATE_RESOURCE"]);
      const foreign = createResource(cluster("xdstp://there/envoy.config.cluster.v3.Cluster/x"));
      assert.deepEqual(codes(patch({ upsert: [foreign] })), ["XDSKIT_AUTHORITY"]);
      assert.deepEqual(codes(patch({ upsert: [createResource(routeConfiguration("r", "z"))], remove })), []);
      assert.deepEqual(names(server), ["cluster a", "route r"]);
      assert.equal(server.stats().configuration.refused, 0);
    }));

  it("does not miss names that another authority's server may have, nor names supplied on demand", async () => {
    const away = "xdstp://there/envoy.config.cluster.v3.Cluster/x";
    const own = [cluster(away), routeConfiguration("r", away)];
    await withRefusing({}, ({ config }) => {
      config.set(own);
      config.remove(removed("cluster", away));
    });
    await withRefusing({ authorities: ["there"] }, ({ config }) => {
      config.set(own);
      refusal(() => config.remove(removed("cluster", away)));
    });
    await withRefusing({ onDemand: { types: ["cluster"], supply: () => undefined } }, ({ config }) => {
      config.set([cluster("a"), routeConfiguration("r", "a"), routedListener("l", "r")]);
      config.remove(removed("cluster", "a"));
      refusal(() => config.remove(removed("route", "r")));
    });
  });

  it("still retries a refused change when a source that was to take its source's place could not start", () =>
    withRefusing({}, async (server) => {
      const clusters = wishing("clusters", cluster("a"));
      await server.addSource(clusters.source);
      server.config.set([routeConfiguration("r", "a")]);
      clusters.want(cluster("b"));
      assert.equal(server.stats().configuration.refused, 1);
      const failing: Source = {
        name: "clusters",
        async start(sink) {
          try {
            sink.apply([{ layer: "clusters", kind: "replace", upsert: [] }]);
          } finally {
            sink.ended?.();
          }
        },
        async close() {},
      };
      await assert.rejects(server.addSource(failing), /"a"/);
      assert.equal(server.stats().configuration.refused, 2);
      server.config.set([]);
      await waitFor("the source to hear of it", () => clusters.retries === 1);
      assert.deepEqual(names(server), ["cluster b"]);
    }));

  it("applies a source's refused change as soon as another source, or a program, makes it complete", () =>
    withRefusing({}, async (server) => {
      const [clusters, routes] = [wishing("clusters", cluster("a"), cluster("b")), wishing("routes")];
      await Promise.all([clusters, routes].map(({ source }) => server.addSource(source)));
      routes.want(routeConfiguration("r", "a"));
      server.config.set([routeConfiguration("own", "b")]);
      clusters.want(cluster("b"));
      assert.ok(names(server).includes("cluster a"));
      // A change that does not make it complete does not trigger another try.
      server.config.update({ upsert: [cluster("own")] });
      routes.want(routeConfiguration("r", "b"));
      await waitFor("the cluster to go", () => !names(server).includes("cluster a"));
      assert.equal(clusters.retries, 1);
      clusters.want();
      assert.ok(names(server).includes("cluster b"));
      routes.want();
      server.config.set([]);
      await waitFor("the cluster to go", () => names(server).length === 0);
      assert.deepEqual([clusters.retries, routes.retries, server.stats().configuration.refused], [2, 0, 2]);
    }));

  it("keeps no revision of a refused change, and one as soon as it is complete", () =>
    withRefusing({}, async (server) => {
      const a = wishing("a", cluster("a"));
      const store = await createMemoryStore();
      const info = { author: "me", cause: { kind: "source", source: "a" }, message: "", time: 1 } as const;
      const kept = new KeptSource({
        source: a.source,
        store,
        layers: ["a"],
        types: resourceTypes,
        registry: envoyRegistry(),
        retention: { revisions: 10, since: 0 },
        describe: () => info,
        onProblem: (findings) => assert.deepEqual(findings, []),
      });
      await server.addSource(kept);
      const revisions = async () => (await store.history("a", { limit: 10 })).length;
      await waitForIt("the first revision", async () => (await revisions()) === 1);
      server.config.set([routeConfiguration("r", "a")]);
      a.want();
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(await revisions(), 1);
      server.config.set([]);
      await waitForIt("the second revision", async () => (await revisions()) === 2);
      assert.deepEqual(names(server), []);
    }));

  it("applies refused changes of two sources together if they are complete together", () =>
    withRefusing({}, async (server) => {
      const one = wishing("one", cluster("a"), routeConfiguration("r", "b"));
      const two = wishing("two", cluster("b"), routeConfiguration("s", "a"));
      await Promise.all([one, two].map(({ source }) => server.addSource(source)));
      one.want();
      assert.equal(names(server).length, 4);
      two.want();
      assert.deepEqual(names(server), []);
      await waitFor("the first to hear of it", () => one.retries === 1);
      assert.equal(server.stats().configuration.refused, 1);
    }));

  it("forgets a source's refused change once the source has another one, or errors", () =>
    withRefusing({}, async (server) => {
      const a = wishing("a", cluster("a"));
      await server.addSource(a.source);
      server.config.set([routeConfiguration("r", "a")]);
      a.want();
      a.want(cluster("a"), cluster("b"));
      server.config.set([]);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual([a.retries, names(server)], [0, ["cluster a", "cluster b"]]);
    }));

  it("does not judge the start of a source", () =>
    withRefusing({}, async (server) => {
      server.config.layer("a").set([cluster("a")]);
      server.config.set([routeConfiguration("r", "a")]);
      await server.addSource(wishing("a", cluster("b")).source);
      assert.deepEqual(names(server), ["cluster b", "route r"]);
    }));

  it("judges the start of a source that says what it had before, until nodes are told something and from then on", () =>
    withRefusing({}, async (server) => {
      const a = wishing("a", cluster("b"));
      a.restarts(cluster("a"), cluster("b"));
      let started: () => void = () => {};
      const slow: Source = {
        name: "slow",
        start: (sink) => {
          sink.apply([{ layer: "slow", kind: "replace", upsert: [createResource(routeConfiguration("r", "a"))] }]);
          return new Promise((resolve) => {
            started = resolve;
          });
        },
        close: async () => {},
      };
      const starting = server.addSource(slow);
      await server.addSource(a.source);
      assert.equal(server.stats().configuration.refused, 1);
      a.restore();
      a.want(cluster("c"));
      assert.equal(server.stats().configuration.refused, 2);
      assert.deepEqual(names(server), []);
      started();
      await starting;
      assert.deepEqual(names(server), ["cluster a", "cluster b", "route r"]);
      // It is not tried in vain.
      assert.equal(a.retries, 0);
      a.want(cluster("b"));
      server.config.set([cluster("a")]);
      await waitFor("the change to be tried again", () => a.retries === 1);
      assert.deepEqual(names(server), ["cluster a", "cluster b", "route r"]);
    }));

  it("tries the change that a start refused as soon as nodes are told something, if it is whole by then", () =>
    withRefusing({}, async (server) => {
      const a = wishing("a", cluster("b"), routeConfiguration("r", "a"));
      a.restarts(cluster("a"), routeConfiguration("r", "a"));
      const starting = server.addSource({
        ...a.source,
        async start(sink) {
          await a.source.start(sink);
          a.restore();
          server.config.layer("own").set([cluster("a")]);
        },
      });
      await starting;
      await waitFor("the change to be tried again", () => names(server).includes("cluster b"));
      assert.deepEqual(names(server), ["cluster a", "cluster b", "route r"]);
    }));

  it("does not refuse a start for what was not whole before, nor one that makes all of it whole", () =>
    withRefusing({}, async (server) => {
      const [a, b] = [wishing("a", routeConfiguration("r", "x")), wishing("b", routeConfiguration("s", "own"))];
      a.restarts(cluster("a"), routeConfiguration("r", "x"));
      b.restarts(cluster("b"), routeConfiguration("s", "b"));
      await Promise.all([server.addSource(a.source), server.addSource(b.source)]);
      assert.deepEqual(names(server), ["route r", "route s"]);
      assert.equal(server.stats().configuration.refused, 0);
    }));
});

describe("a server with references: warn", () => {
  it("applies everything, as a server without the option does", () => {
    for (const references of ["warn", undefined] as const) {
      const server = createServer({ references });
      server.config.set([cluster("a"), routeConfiguration("r", "a")]);
      server.config.remove(removed("cluster", "a"));
      assert.deepEqual(names(server), ["route r"]);
      assert.equal(server.danglingNames("all")?.size, 1);
      void server.close();
    }
    assert.throws(
      () => createServer({ references: "no" as "warn" }),
      /references must be "strict", "refuse" or "warn", not "no"/,
    );
  });
});
