import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createResource, envoyRegistry, type Finding, resourceTypes, XdskitError } from "@xdskit/api";
import type { Source, SourceSink } from "../../contracts/source.js";
import type { LayerWrite } from "../../contracts/stores/layer-writer.js";
import type { SharedListener } from "../../contracts/stores/shared-keys.js";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { createServer } from "../../create-server.js";
import { manualClock } from "../../testing/basics/manual-clock.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { cluster } from "../../testing/test-resources.js";
import { lent, withMethods } from "../../testing/with-methods.js";
import { CopiedStore } from "../copied/copied-store.js";
import { StoreCopy } from "../copied/store-copy.js";
import { KeptSource } from "../kept/kept-source.js";
import type { TimeLeft } from "../leases/lease-book.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { WrittenLayers } from "./written-layers.js";

const [one, two] = [createResource(cluster("one")), createResource(cluster("two"))];
const retention = { revisions: 100, since: 0 };
const reading = { types: resourceTypes, registry: envoyRegistry() };
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function write(changes: Partial<LayerWrite>): LayerWrite {
  return { layer: "own", upsert: [], remove: [], replace: false, info, ...changes };
}

type Started = Awaited<ReturnType<typeof started>>;

/** A server with a layer that is written, and one that a source fills. */
async function started(
  t: TestContext,
  store: Store,
  timeLeft?: TimeLeft,
  problem: (findings: readonly Finding[]) => void = (findings) => assert.fail(JSON.stringify(findings)),
) {
  const server = createServer({ groups: [{ name: "all", match: {}, layers: ["source", "own"] }] });
  const clock = manualClock();
  const heard: [string, boolean][] = [];
  const kept: Revision[] = [];
  const written = await WrittenLayers.open({
    store,
    server,
    clock,
    timeLeft,
    retention,
    ...reading,
    layers: ["own"],
    onRevision: ({ id }, isOwn) => heard.push([id, isOwn]),
    onProblem: (findings) => assert.fail(JSON.stringify(findings)),
  });
  let sink: SourceSink | undefined;
  const source: Source = {
    name: "played",
    async start(given) {
      sink = given;
      given.apply([{ layer: "source", kind: "replace", upsert: [one] }]);
    },
    async close() {},
  };
  const keptSource = new KeptSource({
    source,
    store,
    retention,
    ...reading,
    layers: ["source"],
    describe: () => info,
    onRevision: (revision) => kept.push(revision),
    onProblem: problem,
  });
  await Promise.all([server.addSource(written), server.addSource(keptSource)]);
  t.after(() => server.close());
  return {
    server,
    clock,
    written,
    heard,
    keptSource,
    kept,
    change: (...upsert: (typeof one)[]) => sink?.apply([{ layer: "source", kind: "replace", upsert }]),
    holds: (layer: string) => [...(server.layerSnapshot(layer)?.of(one.type) ?? [])].map(({ name }) => name).join(),
    async pass(milliseconds: number): Promise<void> {
      clock.advance(milliseconds);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Renews it at one server until the other one hears of that: servers join each other only when there is a lease. */
async function renewedAtBoth(one: Started, other: Started, id: string): Promise<void> {
  other.clock.advance(1_000);
  const left = () => other.written.lease(id)?.leftMs ?? 0;
  const before = left();
  for (let round = 0; round < 1_000 && left() === before; round += 1) {
    await one.written.renewLease(id);
    await other.pass(0);
  }
  assert.ok(left() > before, "the other one hears of renewals");
}

async function holdsSoon(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    assert.ok(tries < 3_000, `in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Makes a second revision of the source's layer, and rolls it back to the first. */
async function rollBack(store: Store, { change, keptSource }: Started): Promise<void> {
  await holdsSoon("the first content is kept", async () => (await store.head("source")) !== undefined);
  change(two);
  await holdsSoon("the change is kept", async () => (await store.head("source"))?.number === 2);
  const [, first = assert.fail()] = await store.history("source", { limit: 10 });
  const back = { ...info, cause: { kind: "rollback", to: first.id } } as const;
  const { kind } = await keptSource.rollBack("source", first.id, { info: back });
  assert.equal(kind, "written");
}

describe("servers of one store", () => {
  it("each serves what another one writes, and tells of its revisions", async (t) => {
    const store = await createMemoryStore();
    const [a, b] = [await started(t, store), await started(t, store)];
    const first = await a.written.write(write({ upsert: [one] }));
    await waitFor("the other one serves it", () => b.holds("own") === "one");
    const second = await b.written.write(write({ upsert: [two], remove: [{ type: one.type, name: "one" }] }));
    await waitFor("the first one serves it", () => a.holds("own") === "two");
    const ids = [first.head?.id, second.head?.id];
    assert.deepEqual(a.heard, [
      [ids[0], true],
      [ids[1], false],
    ]);
    assert.deepEqual(b.heard, [
      [ids[0], false],
      [ids[1], true],
    ]);
  });

  it("each tells of each revision of a source once, whoever wrote it, and of none from before its start", async (t) => {
    const store = await createMemoryStore();
    const numbers = ({ kept }: Started) => kept.map(({ number }) => number);
    const a = await started(t, store);
    await waitFor("the first revision is kept", () => a.kept.length === 1);
    const b = await started(t, store);
    for (const [upsert, number] of [
      [[two], 2],
      [[one, two], 3],
    ] as const) {
      // The second one then has no difference to write.
      a.change(...upsert);
      await waitFor("the first one tells of it", () => a.kept.at(-1)?.number === number);
      b.change(...upsert);
      await waitFor("the other one tells of it, too", () => b.kept.at(-1)?.number === number);
    }
    b.change(one);
    await waitFor("both tell of the last one", () => [a, b].every(({ kept }) => kept.at(-1)?.number === 4));
    const [first] = await store.history("source", { limit: 1 });
    await a.keptSource.rollBack("source", first?.parent ?? "", { info, expected: undefined });
    await waitFor("both tell of the rollback", () => [a, b].every(({ kept }) => kept.at(-1)?.number === 5));
    assert.deepEqual(
      [numbers(a), numbers(b)],
      [
        [1, 2, 3, 4, 5],
        [2, 3, 4, 5],
      ],
    );
  });

  it("many changes of both at once leave both with the same", async (t) => {
    const store = await createMemoryStore();
    const [a, b] = [await started(t, store), await started(t, store)];
    const clusters = Array.from({ length: 40 }, (_, index) => createResource(cluster(`c${index}`)));
    const done = clusters.map((each, index) => (index % 2 === 0 ? a : b).written.write(write({ upsert: [each] })));
    assert.ok((await Promise.all(done)).every(({ kind }) => kind === "written"));
    const all = clusters.map(({ name }) => name).sort();
    await waitFor("both hold all", () =>
      [a, b].every((each) => each.holds("own").split(",").sort().join() === all.join()),
    );
    const history = await store.history("own", { limit: 100 });
    assert.deepEqual(new Set(a.heard.map(([id]) => id)), new Set(history.map(({ id }) => id)));
    assert.equal(b.heard.length, 40);
  });

  it("a lease that was renewed at another server does not end, and ends once nobody renews it", async (t) => {
    const store = await createMemoryStore();
    const a = await started(t, store);
    const b = await started(t, store, async (ids) => new Map(ids.map((id) => [id, a.written.lease(id)?.leftMs ?? 0])));
    const result = await a.written.write(write({ upsert: [one], lease: { ttlMs: 1_000 } }));
    assert.ok(result.kind === "written" && result.lease !== undefined);
    const { id } = result.lease;
    await waitFor("it is known there", () => b.written.lease(id) !== undefined);
    await a.pass(900);
    await a.written.renewLease(id);
    await b.pass(1_001);
    assert.deepEqual([a.holds("own"), b.holds("own")], ["one", "one"]);
    await a.pass(999);
    await b.pass(998);
    assert.equal(b.holds("own"), "one");
    await a.pass(2);
    await waitFor("both removed it", () => a.holds("own") === "" && b.holds("own") === "");
    assert.deepEqual([a.written.leases, b.written.leases], [[], []]);
  });

  it("a lease that is renewed at another server does not end where they cannot ask each other", async (t) => {
    const store = await createMemoryStore();
    const [a, b] = [await started(t, store), await started(t, store)];
    const result = await a.written.write(write({ upsert: [one], lease: { ttlMs: 4_000 } }));
    assert.ok(result.kind === "written" && result.lease !== undefined);
    const { id } = result.lease;
    await waitFor("it is known there", () => b.written.lease(id) !== undefined);
    for (let second = 0; second < 12; second += 1) {
      await a.pass(1_000);
      await a.written.renewLease(id);
      await b.pass(1_000);
      assert.deepEqual([a.holds("own"), b.holds("own")], ["one", "one"], `after ${second + 1} s`);
    }
    const both = async (tenths: number) => {
      for (let tenth = 0; tenth < tenths; tenth += 1) await Promise.all([a.pass(100), b.pass(100)]);
    };
    await both(29);
    assert.equal(b.holds("own"), "one");
    await both(20);
    await waitFor("the other one ends it once nobody renews it", () => a.holds("own") === "");
  });

  it("a lease has its whole time again when the server that knew of its renewals is gone", async (t) => {
    const store = await createMemoryStore();
    const [a, b] = [await started(t, store), await started(t, store)];
    const result = await a.written.write(write({ upsert: [one], lease: { ttlMs: 60_000 } }));
    assert.ok(result.kind === "written" && result.lease !== undefined);
    const { id } = result.lease;
    await waitFor("it is known there", () => b.written.lease(id) !== undefined);
    await renewedAtBoth(a, b, id);
    b.clock.advance(20_000);
    await a.server.close();
    await waitFor("it has its whole time", () => b.written.lease(id)?.leftMs === 60_000);
  });

  it("a lease that is over ends although another server changes the leases of its layer just then", async (t) => {
    const store = await createMemoryStore();
    let before: (() => Promise<unknown>) | undefined;
    const commit: Store["commit"] = async (...asked) => {
      const other = before;
      before = undefined;
      await other?.();
      return await store.commit(...asked);
    };
    const [a, b] = [await started(t, withMethods(store, { commit })), await started(t, store)];
    const leased = async () => {
      const result = await a.written.write(write({ upsert: [one], lease: { ttlMs: 30_000 } }));
      assert.ok(result.kind === "written" && result.lease !== undefined);
      before = () => b.written.write(write({ upsert: [two], lease: { ttlMs: 90_000 } }));
      return result.lease.id;
    };
    const removed = await leased();
    await waitFor("the other one has it", () => b.holds("own") === "one");
    await a.written.endLease(removed);
    assert.deepEqual([a.holds("own"), a.written.lease(removed), before], ["two", undefined, undefined]);
    const expired = await leased();
    await waitFor("the other one has both", () => b.holds("own") === "two,one" || b.holds("own") === "one,two");
    await a.pass(30_001);
    await waitFor("it is over", () => a.written.lease(expired) === undefined);
    assert.deepEqual([a.holds("own"), before], ["two", undefined]);
  });

  it("a lease is not called renewed where the others cannot hear of it", async (t) => {
    const store = await createMemoryStore();
    let isFull = false;
    const shared: Store["shared"] = new Proxy(store.shared, {
      get(target, key) {
        if (key === "put" && isFull) return () => Promise.reject(new Error("disk full"));
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const [a, b] = [await started(t, withMethods(store, { shared })), await started(t, store)];
    const result = await a.written.write(write({ upsert: [one], lease: { ttlMs: 2_000 } }));
    assert.ok(result.kind === "written" && result.lease !== undefined);
    const { id } = result.lease;
    await waitFor("it is known there", () => b.written.lease(id) !== undefined);
    await renewedAtBoth(a, b, id);
    isFull = true;
    await assert.rejects(a.written.renewLease(id), { code: "XDSKIT_STORE" });
    isFull = false;
    await a.written.renewLease(id);
  });

  it("a lease is not called renewed while the store is away, since a server that starts meanwhile cannot hear of it", async (t) => {
    const store = await createMemoryStore();
    let isAway = false;
    let renewals: SharedListener | undefined;
    const shared = withMethods(store.shared, {
      put: (asked) => (isAway ? Promise.reject(new Error("no answer")) : store.shared.put(asked)),
      watch: (begin, listener) => {
        if (begin === "leases/renewed/") renewals = listener;
        return store.shared.watch(begin, listener);
      },
    });
    const alone = await started(t, withMethods(store, { shared }));
    const result = await alone.written.write(write({ upsert: [one], lease: { ttlMs: 2_000 } }));
    assert.ok(result.kind === "written" && result.lease !== undefined);
    const { id } = result.lease;
    await alone.pass(0);
    await alone.written.renewLease(id);
    isAway = true;
    renewals?.away({ code: "XDSKIT_STORE", severity: "error", message: "no answer" });
    await assert.rejects(alone.written.renewLease(id), { code: "XDSKIT_STORE" });
  });

  it("a rollback of a source's layer holds at all of them, until their source changes", async (t) => {
    const store = await createMemoryStore();
    const [a, b] = [await started(t, store), await started(t, store)];
    let number: number | undefined;
    const watch = store.watch({ moved: (heads) => (number = heads[0]?.number), away: () => {} });
    t.after(() => watch.close());
    const reaches = (wanted: number) => waitFor(`revision ${wanted} comes`, () => number === wanted);
    await reaches(1);
    for (const each of [a, b]) each.change(one, two);
    await reaches(2);
    const [, first] = await store.history("source", { limit: 10 });
    const back = { ...info, cause: { kind: "rollback", to: first?.id ?? "" } } as const;
    await a.keptSource.rollBack("source", first?.id ?? "", { info: back });
    await waitFor("the other one is rolled back", () => b.holds("source") === "one");
    assert.deepEqual(b.keptSource.rolledBack, a.keptSource.rolledBack);
    for (const each of [a, b]) each.change(two);
    await waitFor("both have the newest", () => a.holds("source") === "two" && b.holds("source") === "two");
    await reaches(4);
    await Promise.all([a.keptSource.close(), b.keptSource.close()]);
    assert.deepEqual([a.keptSource.rolledBack, b.keptSource.rolledBack], [[], []]);
    // Both have ended it, and one revision says so.
    assert.equal((await store.head("source"))?.number, 4);
  });

  it("each serves what another one wrote and rolled back once it can be read, though the store tells no more", async (t) => {
    const store = await createMemoryStore();
    let isBroken = false;
    const read: Store["read"] = async (id) => {
      if (isBroken) throw new Error("a disk is gone");
      return await store.read(id);
    };
    const problems: Finding[] = [];
    const a = await started(t, store);
    const b = await started(t, withMethods(store, { read }), undefined, (found) => void problems.push(...found));
    await holdsSoon("the first content is kept", async () => (await store.head("source")) !== undefined);
    b.change(two);
    isBroken = true;
    await a.written.write(write({ upsert: [one] }));
    await waitFor("it says so", () => b.written.away !== undefined);
    assert.match(b.written.away?.finding.message ?? "", /a disk is gone/);
    await rollBack(store, a);
    await waitFor("it says so of the rollback", () => problems.length > 0);
    assert.deepEqual([b.holds("own"), b.holds("source")], ["", "two"]);
    isBroken = false;
    await waitFor("it serves both", () => b.holds("own") === "one" && b.holds("source") === "one");
    await waitFor("it says that it can", () => b.written.away === undefined);
    assert.deepEqual(
      problems.map(({ message }) => message),
      ["a disk is gone"],
    );
  });

  it("a rollback holds at one that started while the store was away, with the content from before it", async (t) => {
    const store = await createMemoryStore();
    const a = await started(t, store);
    await rollBack(store, a);
    const machine = await createMemoryStore();
    const opened = async (open: () => Promise<Store>) => {
      const copied = await CopiedStore.open({
        name: "far",
        open,
        copy: new StoreCopy(lent(machine)),
        problem: (finding) => finding && assert.fail(finding.message),
      });
      t.after(() => copied.close());
      return copied;
    };
    await opened(async () => lent(store));
    const copy = new StoreCopy(lent(machine));
    await holdsSoon("it is copied", async () => (await copy.heads()).length > 0 && (await copy.seen()) !== undefined);
    let isBack = false;
    const late = await opened(async () =>
      isBack ? lent(store) : Promise.reject(XdskitError.of("XDSKIT_STORE", "no")),
    );
    const b = await started(t, late, undefined, () => {});
    b.change(two);
    assert.equal(b.holds("source"), "two");
    isBack = true;
    await waitFor("it follows the rollback", () => b.holds("source") === "one");
    assert.deepEqual(b.keptSource.rolledBack, a.keptSource.rolledBack);
    assert.equal((await store.head("source"))?.cause.kind, "rollback");
    b.change(one, two);
    await holdsSoon("its change ends it", async () => (await store.head("source"))?.number === 4);
  });
});
