import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource, envoyRegistry, type Finding, resourceTypes } from "@xdskit/api";
import type { LayerWrite } from "../../contracts/stores/layer-writer.js";
import type { Store } from "../../contracts/stores/store.js";
import { createServer } from "../../create-server.js";
import { type ManualClock, manualClock } from "../../testing/basics/manual-clock.js";
import { cluster } from "../../testing/test-resources.js";
import { withMethods } from "../../testing/with-methods.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { WrittenLayers } from "./written-layers.js";

const layer = "own";
const [one, two, three] = ["one", "two", "three"].map((name) => createResource(cluster(name)));
if (one === undefined || two === undefined || three === undefined) throw new Error("no resources");
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function write(changes: Partial<LayerWrite>): LayerWrite {
  return { layer, upsert: [], remove: [], replace: false, info, ...changes };
}

async function passing(clock: ManualClock, milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  // What is over is written in turns of its own.
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function later(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** `loadingMs`: the time between the load of the layers and the start. */
async function started(store: Store, needed: readonly string[] = [], loadingMs = 0) {
  const server = createServer({ groups: [{ name: "all", match: {}, layers: [layer] }] });
  const clock = manualClock();
  const problems: Finding[] = [];
  const refusing: Pick<typeof server, "layerSnapshot" | "checkChange"> = {
    layerSnapshot: server.layerSnapshot,
    checkChange: (updates) => {
      const gone = updates.flatMap(({ remove = [] }) => remove).find(({ name }) => needed.includes(name));
      if (gone === undefined) return server.checkChange(updates);
      return [{ code: "XDSKIT_REFERENCE_BROKEN", severity: "error", message: `${gone.name} is needed` }];
    },
  };
  const written = await WrittenLayers.open({
    store,
    server: refusing,
    clock,
    layers: [layer],
    types: resourceTypes,
    registry: envoyRegistry(),
    retention: { revisions: 100, since: 0 },
    onProblem: (findings) => void problems.push(...findings),
  });
  await passing(clock, loadingMs);
  await server.addSource(written);
  const names = () =>
    [...(server.layerSnapshot(layer)?.of(resourceTypes.find("cds") ?? assert.fail()) ?? [])]
      .map(({ name }) => name)
      .sort();
  return {
    server,
    written,
    problems,
    clock,
    names,
    pass: (milliseconds: number) => passing(clock, milliseconds),
    async lease(ttlMs: number, ...upsert: LayerWrite["upsert"]): Promise<string> {
      const result = await written.write(write({ upsert, lease: { ttlMs } }));
      assert.ok(result.kind === "written" && result.lease !== undefined);
      return result.lease.id;
    },
  };
}

describe("a lease", () => {
  it("ends with what it holds when nobody renews it, in a revision that says so", async () => {
    const store = await createMemoryStore();
    const { written, lease, pass, names, server } = await started(store);
    await written.write(write({ upsert: [one] }));
    const id = await lease(30_000, two, three);
    await pass(29_000);
    await written.renewLease(id);
    await pass(29_000);
    assert.deepEqual(names(), ["one", "three", "two"]);
    await pass(1_001);
    assert.deepEqual(names(), ["one"]);
    assert.deepEqual((await store.head(layer))?.cause, { kind: "lease-ended", lease: id });
    await assert.rejects(written.renewLease(id), { code: "XDSKIT_LEASE_UNKNOWN" });
    await server.close();
  });

  it("loses a resource that somebody writes without it, removes, or gives to another lease", async () => {
    const { written, lease, pass, names, server } = await started(await createMemoryStore());
    const first = await lease(10_000, one, two, three);
    await written.write(write({ upsert: [one] }));
    await written.write(write({ remove: [{ type: two.type, name: "two" }] }));
    const second = await lease(60_000, three);
    assert.equal(written.lease(first), undefined);
    assert.equal(written.leases.length, 1);
    await pass(30_000);
    assert.deepEqual(names(), ["one", "three"]);
    await written.write(write({ upsert: [two], lease: { id: second } }));
    await pass(31_000);
    assert.deepEqual(names(), ["one"]);
    await assert.rejects(written.write(write({ upsert: [two], lease: { id: second } })), {
      code: "XDSKIT_LEASE_UNKNOWN",
    });
    await server.close();
  });

  it("takes over what is there already, without a revision of the layer", async () => {
    const store = await createMemoryStore();
    const { written, lease, pass, names, server } = await started(store);
    const { head } = (await written.write(write({ upsert: [one] }))) as { head?: { id: string } };
    await lease(10_000, one);
    assert.equal((await store.head(layer))?.id, head?.id);
    await pass(10_001);
    assert.deepEqual(names(), []);
    await server.close();
  });

  it("keeps what a change that replaces the layer leaves as it was, and loses the rest", async () => {
    const { written, lease, names, server } = await started(await createMemoryStore());
    const id = await lease(10_000, one, two, three);
    const other = createResource(cluster("three", "changed"));
    await written.write(write({ upsert: [one, other], replace: true }));
    assert.deepEqual(names(), ["one", "three"]);
    assert.deepEqual(
      written.lease(id)?.resources.map(({ key }) => key),
      ["one"],
    );
    await server.close();
  });

  it("does not take with it at its end what was taken over just before", async () => {
    const { written, lease, names, server } = await started(await createMemoryStore());
    const id = await lease(10_000, one, two);
    const takenOver = written.write(write({ upsert: [one] }));
    const ended = written.endLease(id);
    await Promise.all([takenOver, ended]);
    assert.deepEqual(names(), ["one"]);
    await server.close();
  });

  it("ends together with all others of the layer that are over, in one revision", async () => {
    const store = await createMemoryStore();
    const { written, lease, pass, names, problems, server } = await started(store);
    await written.write(write({ upsert: [one] }));
    const many = Array.from({ length: 1_200 }, (_, at) => createResource(cluster(`many-${at}`)));
    for (const resource of many) await lease(10_000, resource);
    const before = (await store.head(layer))?.number ?? 0;
    await pass(10_001);
    assert.deepEqual([names(), written.leases, problems], [["one"], [], []]);
    const head = await store.head(layer);
    assert.deepEqual([head?.number, head?.message.slice(0, 13)], [before + 1, "1200 leases ("]);
    await server.close();
  });

  it("ends although the end of another one is refused, which is named", async () => {
    const { written, lease, pass, names, problems, server } = await started(await createMemoryStore(), ["two"]);
    await lease(10_000, one);
    const stays = await lease(10_000, two);
    await lease(10_000, three);
    await pass(10_001);
    assert.deepEqual(names(), ["two"]);
    assert.deepEqual(
      problems.map(({ message }) => message),
      [`lease ${stays} cannot end now: two is needed`],
    );
    assert.equal(written.leases.length, 1);
    await server.close();
  });

  it("has its whole time again after a restart", async () => {
    const store = await createMemoryStore();
    const before = await started(store);
    const id = await before.lease(30_000, one);
    await before.pass(20_000);
    await before.server.close();
    const { written, pass, names, server } = await started(store);
    assert.deepEqual(names(), ["one"]);
    assert.equal(written.lease(id)?.leftMs, 30_000);
    await pass(29_000);
    assert.deepEqual(names(), ["one"]);
    await pass(1_001);
    assert.deepEqual(names(), []);
    await server.close();
    const last = await started(store);
    assert.deepEqual([last.names(), last.written.leases], [[], []]);
    await last.server.close();
  });

  it("does not begin before what it holds is served", async () => {
    const store = await createMemoryStore();
    const before = await started(store);
    const id = await before.lease(1_000, one);
    await before.server.close();
    const { written, pass, names, server } = await started(store, [], 2_000);
    await pass(0);
    assert.deepEqual([names(), written.lease(id)?.leftMs], [["one"], 1_000]);
    await pass(1_001);
    assert.deepEqual(names(), []);
    await server.close();
  });

  for (const isKept of [true, false]) {
    const outcome = isKept ? "not renewed, nor ended again," : "renewed";
    it(`is ${outcome} while the store writes its end, which ${isKept ? "succeeds" : "fails"}`, async () => {
      const store = await createMemoryStore();
      const { promise: written, resolve: finish } = later();
      const { promise: writing, resolve: begin } = later();
      let isEnding = false;
      const commit: Store["commit"] = async (...asked) => {
        if (!isEnding) return await store.commit(...asked);
        begin();
        await written;
        if (!isKept) throw new Error("disk full");
        return await store.commit(...asked);
      };
      const { written: layers, lease, pass, names, server } = await started(withMethods(store, { commit }));
      const id = await lease(5_000, one);
      isEnding = true;
      await pass(5_001);
      await writing;
      const asked = [layers.renewLease(id), layers.renewLease(id), ...(isKept ? [layers.endLease(id)] : [])];
      const outcomes = Promise.allSettled(asked);
      await pass(0);
      finish();
      for (const answer of await outcomes) {
        if (isKept) assert.equal(answer.status === "rejected" && answer.reason.code, "XDSKIT_LEASE_UNKNOWN");
        else assert.equal(answer.status === "fulfilled" && "ttlMs" in answer.value && answer.value.ttlMs, 5_000);
      }
      assert.deepEqual([names(), layers.lease(id)?.leftMs], isKept ? [[], undefined] : [["one"], 5_000]);
      await server.close();
    });
  }

  it("tries again where its end cannot be kept, and says so", async () => {
    const store = await createMemoryStore();
    let isFull = false;
    const commit: Store["commit"] = async (...asked) => {
      if (isFull) throw new Error("disk full");
      return await store.commit(...asked);
    };
    const full = withMethods(store, { commit });
    const { lease, pass, names, problems, server } = await started(full);
    const id = await lease(5_000, one);
    isFull = true;
    await pass(5_001);
    assert.deepEqual(
      [names(), problems.map(({ message }) => message)],
      [["one"], [`lease ${id} cannot end now: disk full`]],
    );
    isFull = false;
    await pass(10_001);
    assert.deepEqual(names(), []);
    await server.close();
  });
});
