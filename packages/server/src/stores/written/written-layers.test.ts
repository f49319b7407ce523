import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource, envoyRegistry, type Finding, resourceTypes, XdskitError } from "@xdskit/api";
import type { SourceSink, StepBack } from "../../contracts/source.js";
import type { LayerWrite } from "../../contracts/stores/layer-writer.js";
import type { HeadsListener, Store } from "../../contracts/stores/store.js";
import { createServer } from "../../create-server.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { cluster, routeConfiguration } from "../../testing/test-resources.js";
import { withMethods } from "../../testing/with-methods.js";
import { encodeStored } from "../history/stored-content.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { WrittenLayers } from "./written-layers.js";

const layer = "own";
const one = createResource(cluster("one"));
const two = createResource(cluster("two"));
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function write(changes: Partial<LayerWrite>): LayerWrite {
  return { layer, upsert: [], remove: [], replace: false, info, ...changes };
}

/** A server with one written layer. `meanwhile`: after it has read the store, and before it follows it. */
async function started(store: Store, meanwhile: () => Promise<unknown> = async () => {}) {
  const server = createServer({ groups: [{ name: "all", match: {}, layers: ["source", layer] }] });
  const problems: Finding[] = [];
  const written = await WrittenLayers.open({
    store,
    server,
    layers: [layer],
    types: resourceTypes,
    registry: envoyRegistry(),
    retention: { revisions: 100, since: 0 },
    onProblem: (findings) => void problems.push(...findings),
  });
  await meanwhile();
  const resumed: StepBack[] = [];
  const start = (sink: SourceSink) =>
    written.start({
      ...sink,
      resume(steps) {
        resumed.push(...steps);
        sink.resume?.(steps);
      },
    });
  await server.addSource({ name: written.name, start, close: () => written.close() });
  const held = () => [...(server.layerSnapshot(layer)?.of(one.type) ?? [])].map(({ name }) => name).sort();
  return { server, written, problems, held, resumed };
}

/** A store that can be replaced by what a backup had of it. */
async function restorable(): Promise<{ readonly store: Store; restore(): Promise<Store> }> {
  let now = await createMemoryStore();
  const listeners = new Set<HeadsListener>();
  const watch: Store["watch"] = (listener) => {
    listeners.add(listener);
    return now.watch(listener);
  };
  const store = new Proxy(now, {
    get(_, name) {
      if (name === "watch") return watch;
      const value: unknown = Reflect.get(now, name);
      return typeof value === "function" ? value.bind(now) : value;
    },
  });
  return {
    store,
    async restore() {
      now = await createMemoryStore();
      for (const listener of listeners) now.watch(listener);
      return now;
    },
  };
}

describe("written layers", () => {
  it("cost nothing while they are empty", async () => {
    const { server, written } = await started(await createMemoryStore());
    assert.equal(server.layerSnapshot(layer), undefined);
    const result = await written.write(write({ remove: [{ type: one.type, name: "x" }] }));
    assert.deepEqual(result, { kind: "written", head: undefined, isNew: false });
    assert.equal(server.layerSnapshot(layer), undefined);
    await server.close();
  });

  it("keep a change before it is served", async () => {
    const store = await createMemoryStore();
    const { server, written, held } = await started(store);
    const heads: (string | undefined)[] = [];
    server.on(({ kind }) => {
      if (kind === "configuration-applied") void store.head(layer).then((head) => heads.push(head?.id));
    });
    const result = await written.write(write({ upsert: [one] }));
    assert.deepEqual(held(), ["one"]);
    assert.equal(result.kind, "written");
    assert.deepEqual(heads, [result.head?.id]);
    await server.close();
  });

  it("change nothing that the server refuses, and keep nothing of it", async () => {
    const store = await createMemoryStore();
    const { server, written, held } = await started(store);
    await assert.rejects(written.write(write({ upsert: [one, one] })), { code: "XDSKIT_DUPLICATE_RESOURCE" });
    assert.deepEqual([held(), await store.heads()], [[], []]);
    await server.close();
  });

  it("take a change back that the server refuses after it was kept", async () => {
    const store = await createMemoryStore();
    const { written, held, server } = await started(store);
    await written.write(write({ upsert: [one] }));
    const refusing = await WrittenLayers.open({
      store,
      server,
      layers: [layer],
      types: resourceTypes,
      registry: envoyRegistry(),
      retention: { revisions: 100, since: 0 },
      onProblem: () => {},
    });
    await refusing.start({
      apply(updates) {
        if (updates.some(({ upsert }) => upsert.includes(two))) throw XdskitError.of("XDSKIT_CHANGE_REFUSED", "no");
      },
      report: () => {},
    });
    await assert.rejects(refusing.write(write({ upsert: [two] })), { code: "XDSKIT_CHANGE_REFUSED" });
    const head = await store.head(layer);
    const kept = head === undefined ? [] : await store.read(head.id);
    assert.deepEqual(
      kept.map(({ key }) => key),
      ["one"],
    );
    // The other server of the store may have served it for a moment.
    await waitFor("it is taken back", () => held().join() === "one");
    await server.close();
  });

  it("take back with a refused change what it did to leases, later where the store fails", async () => {
    const store = await createMemoryStore();
    const server = createServer({});
    let commits = 0;
    let failing = -1;
    const commit: Store["commit"] = async (...asked) => {
      commits += 1;
      if (commits === failing) throw new Error("disk full");
      return await store.commit(...asked);
    };
    const failingStore = withMethods(store, { commit });
    const problems: Finding[] = [];
    const written = await WrittenLayers.open({
      store: failingStore,
      server,
      layers: [layer],
      types: resourceTypes,
      registry: envoyRegistry(),
      retention: { revisions: 100, since: 0 },
      onProblem: (findings) => void problems.push(...findings),
    });
    let isRefusing = true;
    await written.start({
      apply() {
        if (isRefusing) throw XdskitError.of("XDSKIT_CHANGE_REFUSED", "no");
      },
      report: () => {},
    });
    const keptKeys = async () => {
      const heads = await store.heads();
      return (await Promise.all(heads.map(({ id }) => store.read(id)))).flat().map(({ key }) => key);
    };
    await assert.rejects(written.write(write({ upsert: [one], lease: { ttlMs: 60_000 } })), { message: /no/ });
    assert.deepEqual([written.leases, await keptKeys(), problems], [[], [], []]);
    failing = commits + 2;
    await assert.rejects(written.write(write({ upsert: [one], lease: { ttlMs: 60_000 } })), { message: /no/ });
    assert.equal((await keptKeys()).length, 2);
    assert.match(problems[0]?.message ?? "", /disk full/);
    isRefusing = false;
    await written.write(write({ upsert: [two] }));
    assert.deepEqual([written.leases, await keptKeys()], [[], ["two"]]);
    await written.close();
    await server.close();
  });

  it("serve nothing of a refused change while the store fails to take it back", async () => {
    const store = await createMemoryStore();
    const groups = [{ name: "all", match: {}, layers: ["source", layer] }];
    const server = createServer({ groups, references: "refuse" });
    let next: "works" | "is late" | "fails" = "works";
    const commit: Store["commit"] = async (...asked) => {
      if (next === "fails") throw new Error("disk full");
      if (next === "is late") {
        // The change was checked, and removes what is named from now on.
        server.config.layer("source").set([createResource(routeConfiguration("r", "one"))]);
        next = "fails";
      }
      return await store.commit(...asked);
    };
    const written = await WrittenLayers.open({
      store: withMethods(store, { commit }),
      server,
      layers: [layer],
      types: resourceTypes,
      registry: envoyRegistry(),
      retention: { revisions: 100, since: 0 },
      onProblem: () => {},
    });
    await server.addSource(written);
    const held = () => [...(server.layerSnapshot(layer)?.of(one.type) ?? [])].map(({ name }) => name).sort();
    const kept = async () => {
      const heads = await store.heads();
      return (await Promise.all(heads.map(({ id }) => store.read(id))))
        .flat()
        .map(({ key }) => key)
        .sort();
    };
    await written.write(write({ upsert: [one] }));
    next = "is late";
    const refused = write({ upsert: [two], remove: [{ type: one.type, name: "one" }], lease: { ttlMs: 60_000 } });
    await assert.rejects(written.write(refused), { code: "XDSKIT_REFERENCE_BROKEN" });
    assert.equal(next, "fails");
    await written.catchUp();
    assert.deepEqual([held(), written.leases], [["one"], []]);
    next = "works";
    await written.write(write({ upsert: [createResource(cluster("three"))] }));
    assert.deepEqual([held(), await kept(), written.leases], [["one", "three"], ["one", "three"], []]);
    await server.close();
  });

  it("can be written although what another process wrote cannot be served here", async () => {
    const store = await createMemoryStore();
    const other = await started(store);
    const server = createServer({});
    const problems: Finding[] = [];
    const written = await WrittenLayers.open({
      store,
      server,
      layers: [layer],
      types: resourceTypes,
      registry: envoyRegistry(),
      retention: { revisions: 100, since: 0 },
      onProblem: (findings) => void problems.push(...findings),
    });
    await written.start({
      apply(_updates, { isJudged = true } = {}) {
        if (!isJudged) throw XdskitError.of("XDSKIT_REFERENCE_BROKEN", "cannot be served");
      },
      report: () => {},
    });
    await other.written.write(write({ upsert: [one] }));
    assert.equal((await written.write(write({ upsert: [two] }))).kind, "written");
    assert.equal((await written.write(write({ upsert: [two], replace: true }))).kind, "written");
    assert.deepEqual(
      problems.map(({ message }) => message),
      ["cannot be served"],
    );
    await Promise.all([written.close(), other.server.close(), server.close()]);
  });

  it("serve what another process has written although it would be refused here", async () => {
    const store = await createMemoryStore();
    const references = "refuse";
    const groups = [{ name: "all", match: {}, layers: ["source", layer] }];
    const start = async () => {
      const server = createServer({ groups, references });
      const written = await WrittenLayers.open({
        store,
        server,
        layers: [layer],
        types: resourceTypes,
        registry: envoyRegistry(),
        retention: { revisions: 100, since: 0 },
        onProblem: () => {},
      });
      await server.addSource(written);
      return {
        server,
        written,
        names: () => [...(server.layerSnapshot(layer)?.of(one.type) ?? [])].map((r) => r.name),
      };
    };
    const first = await start();
    await first.written.write(write({ upsert: [one] }));
    const second = await start();
    // Only the second server has somebody who names it.
    second.server.config.layer("source").set([createResource(routeConfiguration("r", "one"))]);
    await first.written.write(write({ remove: [{ type: one.type, name: "one" }] }));
    await second.written.write(write({ upsert: [two] }));
    assert.deepEqual(second.names(), ["two"]);
    await Promise.all([first.server.close(), second.server.close()]);
  });

  it("serve what another process has written to the store before their own change", async () => {
    const store = await createMemoryStore();
    const [mine, other] = [await started(store), await started(store)];
    await other.written.write(write({ upsert: [one] }));
    const late = await mine.written.write(write({ upsert: [two], expected: null }));
    assert.equal(late.kind, "conflict");
    assert.equal((await mine.written.write(write({ upsert: [two] }))).kind, "written");
    assert.deepEqual(mine.held(), ["one", "two"]);
    await Promise.all([mine.server.close(), other.server.close()]);
  });

  it("serve at the end of their start what others wrote while they started", async () => {
    const store = await createMemoryStore();
    const other = await started(store);
    await other.written.write(write({ upsert: [one] }));
    const meanwhile = () => other.written.write(write({ upsert: [two] }));
    const { held, server, resumed } = await started(store, meanwhile);
    assert.deepEqual(held(), ["one", "two"]);
    // The clients of the other server may have had what was before that.
    const [step] = resumed;
    assert.deepEqual(
      step?.forward.flatMap(({ upsert }) => upsert.map(({ name }) => name)),
      ["two"],
    );
    await Promise.all([server.close(), other.server.close()]);
  });

  it("serve what others wrote once they are asked to catch up, though the store tells nothing", async () => {
    const store = await createMemoryStore();
    const told: HeadsListener[] = [];
    const silent = withMethods(store, {
      watch(listener) {
        told.push(listener);
        listener.moved([]);
        return { close() {} };
      },
    });
    const { held, written } = await started(silent);
    const commit = async (resource: typeof one, parent?: string) => {
      const stored = encodeStored(resource);
      return await store.commit([{ layer, parent, kind: "patch", upsert: [stored] }], { ...info, author: "other" });
    };
    const first = await commit(one);
    const asked = [written.catchUp(), written.catchUp()];
    assert.deepEqual(held(), []);
    await Promise.all(asked);
    assert.deepEqual(held(), ["one"]);
    assert.ok(first.kind === "committed");
    await commit(two, first.heads[0]?.id);
    await written.catchUp();
    assert.deepEqual(held(), ["one", "two"]);
    told[0]?.away({ code: "XDSKIT_STORE", severity: "error", message: "nobody answers" });
    await assert.rejects(async () => written.catchUp(), /nobody answers/);
  });

  it("need not be asked for what others wrote while no other server has the store", async () => {
    const { server } = await started(await createMemoryStore());
    let isAlone = false;
    const written = await WrittenLayers.open({
      store: await createMemoryStore(),
      server,
      layers: [],
      types: resourceTypes,
      registry: envoyRegistry(),
      retention: { revisions: 100, since: 0 },
      onProblem: () => {},
      isAlone: () => isAlone,
    });
    assert.ok(written.catchUp() instanceof Promise);
    isAlone = true;
    assert.equal(written.catchUp(), undefined);
    await server.close();
  });

  it("start without news of a store that is away or slow", async () => {
    const store = await createMemoryStore();
    const other = await started(store);
    await other.written.write(write({ upsert: [one] }));
    const finding = { code: "XDSKIT_STORE", severity: "error", message: "nobody answers" } as const;
    const away = await started(
      withMethods(store, {
        watch({ away }) {
          queueMicrotask(() => away(finding));
          return { close() {} };
        },
      }),
    );
    assert.deepEqual([away.held(), away.written.away?.finding], [["one"], finding]);
    const slow = await started(withMethods(store, { watch: () => ({ close() {} }) }));
    assert.deepEqual([slow.held(), slow.written.away], [["one"], undefined]);
    await Promise.all([other, away, slow].map(({ server }) => server.close()));
  });

  it("give a store that lost them what is left after a change that only removes", async () => {
    const { store, restore } = await restorable();
    const { server, written, held } = await started(store);
    await written.write(write({ upsert: [one, two] }));
    const restored = await restore();
    await waitFor("the loss is known", () => written.head(layer) === undefined);
    const result = await written.write(write({ remove: [{ type: one.type, name: "one" }] }));
    assert.deepEqual([result.kind, held()], ["written", ["two"]]);
    const head = (await restored.head(layer)) ?? assert.fail();
    assert.deepEqual(
      (await restored.read(head.id)).map(({ key }) => key),
      ["two"],
    );
    await server.close();
  });

  it("are empty, in a store that lost them too, after a change that removes all", async () => {
    const { store, restore } = await restorable();
    const { server, written, held } = await started(store);
    await written.write(write({ upsert: [one] }));
    const restored = await restore();
    await waitFor("the loss is known", () => written.head(layer) === undefined);
    await written.write(write({ replace: true }));
    assert.deepEqual([held(), (await restored.head(layer))?.number], [[], 1]);
    await server.close();
  });

  it("write and follow while old history is removed, which may take long", { timeout: 60_000 }, async () => {
    const store = await createMemoryStore();
    const other = await started(store);
    let end = () => {};
    const isOver = new Promise<number>((resolve) => {
      end = () => resolve(0);
    });
    const { server, written, held } = await started(withMethods(store, { retain: () => isOver }));
    try {
      await within("the first change", written.write(write({ upsert: [one] })));
      await within("the second change", written.write(write({ upsert: [one, two], replace: true })));
      await other.written.write(write({ remove: [{ type: one.type, name: "one" }] }));
      await waitFor("the other server's change is served", () => held().join() === "two");
    } finally {
      end();
    }
    await Promise.all([server.close(), other.server.close()]);
  });

  it("refuse changes after the end, and finish the earlier ones", async () => {
    const store = await createMemoryStore();
    const { server, written } = await started(store);
    const before = written.write(write({ upsert: [one] }));
    await written.close();
    assert.equal((await before).kind, "written");
    await assert.rejects(written.write(write({ upsert: [two] })), { code: "XDSKIT_SERVER_CLOSED" });
    await server.close();
  });
});

describe("a preview", () => {
  it("says what a change would do to each group, and changes nothing", async () => {
    const store = await createMemoryStore();
    const { server, written } = await started(store);
    server.config.layer("source").set([one]);
    const changed = createResource(cluster("one", "changed"));
    const [preview, ...more] = server.preview([{ layer, kind: "patch", upsert: [changed, two] }]);
    assert.equal(more.length, 0);
    assert.equal(preview?.group, "all");
    assert.equal(preview.before.of(one.type).get("one")?.version, one.version);
    assert.equal(preview.after.of(one.type).get("one")?.version, changed.version);
    assert.equal(preview.after.of(one.type).size, 2);
    assert.equal(server.snapshotOf("all")?.of(one.type).size, 1);
    await written.write(write({ upsert: [changed, two] }));
    assert.equal(server.snapshotOf("all")?.of(one.type).version, preview.after.of(one.type).version);
    // What a higher layer has hides a change of a lower one.
    assert.deepEqual(server.preview([{ layer: "source", kind: "replace", upsert: [] }]), []);
    const back = server.preview([{ layer, kind: "replace", upsert: [] }])[0];
    assert.equal(back?.after.of(one.type).get("one")?.version, one.version);
    assert.equal(back.after.of(one.type).get("two"), undefined);
    await server.close();
  });

  it("begins with an empty group for its first layer", async () => {
    const server = createServer({ groups: [{ name: "all", match: {}, layers: ["a", "b"] }] });
    const [preview] = server.preview([{ layer: "b", kind: "replace", upsert: [one] }]);
    assert.deepEqual([preview?.before.sets.size, preview?.after.of(one.type).size], [0, 1]);
    assert.deepEqual(server.preview([{ layer: "c", kind: "replace", upsert: [one] }]), []);
    await server.close();
  });
});
