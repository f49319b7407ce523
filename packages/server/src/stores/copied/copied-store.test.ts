import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Finding, XdskitError } from "@xdskit/api";
import type { CopiedKeys } from "../../contracts/stores/copied-keys.js";
import type { SharedEntry } from "../../contracts/stores/shared-keys.js";
import type { Revision, Store, StoredResource } from "../../contracts/stores/store.js";
import { lent } from "../../testing/with-methods.js";
import { describeStore } from "../suite/store-contract.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { CopiedStore } from "./copied-store.js";
import { StoreCopy } from "./store-copy.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;

function resource(key: string, version: string): StoredResource {
  return { type, key, version, bytes: Buffer.from(`${key} at ${version}`) };
}

async function commit(store: Store, layer: string, ...upsert: StoredResource[]): Promise<Revision> {
  const parent = (await store.head(layer))?.id;
  const result = await store.commit([{ layer, parent, kind: "patch", upsert }], info);
  assert.ok(result.kind === "committed" && result.heads[0] !== undefined);
  return result.heads[0];
}

async function held(store: Store, layer: string): Promise<string> {
  const head = await store.head(layer);
  const resources = head === undefined ? [] : await store.read(head.id);
  const texts = resources.map(({ bytes }) => Buffer.from(bytes).toString());
  return texts.sort().join();
}

async function memory(t: TestContext): Promise<Store> {
  const store = await createMemoryStore();
  t.after(() => store.close());
  return store;
}

/** What a server of a machine has of a store that may be away. */
async function opened(t: TestContext, machine: Store, open: () => Promise<Store>): Promise<CopiedStore> {
  const problem = (finding: Finding | undefined) => assert.fail(finding?.message);
  const store = await CopiedStore.open({ name: "far", open, copy: new StoreCopy(lent(machine)), problem });
  t.after(() => store.close());
  return store;
}

async function away(): Promise<never> {
  throw XdskitError.of("XDSKIT_STORE", "nobody answers");
}

/** A machine on which a server has copied a store. */
async function machineWithCopy(t: TestContext, far: Store): Promise<Store> {
  const machine = await memory(t);
  const store = await opened(t, machine, async () => lent(far));
  const ids = async (from: Pick<Store, "heads">) => (await from.heads()).map(({ id }) => id).join();
  const copy = new StoreCopy(lent(machine));
  const isThere = async () => (await ids(copy)) === (await ids(far)) && (await copy.seen()) !== undefined;
  for (let tries = 0; !(await isThere()); tries += 1) {
    assert.ok(tries < 1_000, "it is not copied");
    await delay(10);
  }
  await store.close();
  return machine;
}

describeStore({
  name: "a store with a copy",
  create: async () =>
    await CopiedStore.open({
      name: "far",
      open: createMemoryStore,
      copy: new StoreCopy(await createMemoryStore()),
      problem: (finding) => assert.fail(finding?.message),
    }),
});

describe("a store that is away at the start", () => {
  it("is read from its copy, which has its heads and their contents, and takes nothing", async (t) => {
    const far = await memory(t);
    await commit(far, "one", resource("a", "1"), resource("b", "1"));
    await commit(far, "one", resource("a", "2"));
    const two = await commit(far, "two", resource("c", "1"));
    const machine = await machineWithCopy(t, far);
    const store = await opened(t, machine, away);
    assert.match(store.fromCopy?.message ?? "", /^nobody answers; served is a copy from 20\d\d-.*, in memory$/);
    assert.deepEqual(await store.heads(), await far.heads());
    assert.equal(await held(store, "one"), "a at 2,b at 1");
    assert.deepEqual(await store.history("two", { limit: 5 }), [two]);
    assert.equal(Buffer.from((await store.content(type, "c", "1")) ?? []).toString(), "c at 1");
    await assert.rejects(commit(store, "two", resource("c", "2")), /nobody answers/);
    await assert.rejects(store.shared.list("x"), /nobody answers/);
  });

  it("is told of as away, and then as what it has become", async (t) => {
    const far = await memory(t);
    await commit(far, "one", resource("a", "1"));
    const machine = await machineWithCopy(t, far);
    let isThere = false;
    const store = await opened(t, machine, async () => (isThere ? lent(far) : await away()));
    const heard: string[] = [];
    const keys: (readonly SharedEntry[])[] = [];
    store.watch({
      moved: (heads) => heard.push(heads.map(({ number }) => number).join()),
      away: ({ message }) => heard.push(message.slice(0, 14)),
    });
    store.shared.watch("x/", { entriesChanged: (entries) => keys.push(entries), away: () => heard.push("no keys") });
    await delay(10);
    assert.deepEqual(heard, ["nobody answers", "no keys"]);
    await commit(far, "one", resource("a", "2"));
    await far.shared.put({ key: "x/y", value: "z", expected: undefined });
    isThere = true;
    for (let tries = 0; heard.length < 3 || keys.length < 1; tries += 1) {
      assert.ok(tries < 1_000, "it is not reached");
      await delay(10);
    }
    assert.equal(heard[2], "2");
    assert.equal(keys[0]?.[0]?.value, "z");
    assert.equal(store.fromCopy, undefined);
    assert.equal(await held(store, "one"), "a at 2");
    assert.equal((await commit(store, "one", resource("a", "3"))).number, 3);
  });

  it("says why it is away now, where the reason changes", async (t) => {
    const far = await memory(t);
    await commit(far, "one", resource("a", "1"));
    const machine = await machineWithCopy(t, far);
    let reason = "nobody answers";
    const store = await opened(t, machine, async () => {
      throw XdskitError.of("XDSKIT_STORE", reason);
    });
    assert.match(store.fromCopy?.message ?? "", /^nobody answers; served is a copy from 20/);
    reason = "the password is wrong";
    for (let tries = 0; !store.fromCopy?.message.startsWith(reason); tries += 1) {
      assert.ok(tries < 1_000, "the first reason stays");
      await delay(10);
    }
    assert.match(store.fromCopy?.message ?? "", /^the password is wrong; served is a copy from 20/);
  });

  it("has the shared keys that a start needs, and the contents that they name", async (t) => {
    const keys: CopiedKeys = {
      prefix: "x/",
      isCopied: (key) => key.startsWith("x/kept/"),
      contentsOf: (entries) =>
        entries.flatMap(({ value }) => value.split(",").map((version) => ({ type, key: "a", version }))),
    };
    const far = await memory(t);
    for (const version of ["1", "2", "3", "4"]) await commit(far, "one", resource("a", version));
    const put = async (key: string, value: string) =>
      (await far.shared.put({ key, value, expected: "any" })) ?? assert.fail();
    const version = await put("x/kept/b", "1,2");
    await put("x/kept/gone", "3");
    await put("x/other", "?");
    const machine = await memory(t);
    const copied = async (open: () => Promise<Store>) => {
      const problem = (finding: Finding | undefined) => assert.fail(finding?.message);
      const store = await CopiedStore.open({
        name: "far",
        open,
        copy: new StoreCopy(lent(machine)),
        problem,
        keys,
      });
      t.after(() => store.close());
      return store;
    };
    const there = await copied(async () => lent(far));
    const inCopy = async (content: string) => await machine.content(type, "a", content);
    for (let tries = 0; (await inCopy("3")) === undefined || (await machine.heads()).length < 3; tries += 1) {
      assert.ok(tries < 1_000, "it is not copied");
      await delay(10);
    }
    await far.shared.remove("x/kept/gone", "any");
    const copy = new StoreCopy(lent(machine));
    for (let tries = 0; (await copy.shared("x/kept/")).length > 1; tries += 1) {
      assert.ok(tries < 1_000, "it is not removed");
      await delay(10);
    }
    await there.close();
    const store = await copied(away);
    assert.deepEqual(await store.shared.list("x/kept/"), [{ key: "x/kept/b", value: "1,2", version }]);
    await assert.rejects(store.shared.list("x/"), /nobody answers/);
    for (const content of ["1", "2", "4"])
      assert.equal(Buffer.from((await store.content(type, "a", content)) ?? []).toString(), `a at ${content}`);
    assert.deepEqual(await store.heads(), await far.heads());
  });

  it("is an error where nothing was copied", async (t) => {
    const copy = new StoreCopy(await createMemoryStore());
    const problem = () => {};
    await assert.rejects(CopiedStore.open({ name: "far", open: away, copy, problem }), /nobody answers/);
    await assert.rejects(CopiedStore.open({ name: "far", open: away, copy: undefined, problem }), /nobody answers/);
    t.diagnostic("both were refused");
  });
});

describe("the copy of a store", () => {
  it("keeps one revision of each layer, and goes back to nothing older", async (t) => {
    const far = await memory(t);
    const first = await commit(far, "one", resource("a", "1"), resource("b", "1"));
    const machine = await memory(t);
    const copy = new StoreCopy(machine);
    await copy.take(far, [first]);
    const second = await commit(far, "one", resource("a", "2"));
    await copy.take(far, [second]);
    const third = await commit(far, "one", resource("a", "3"));
    await copy.take(far, [third]);
    await copy.take(far, [first]);
    assert.deepEqual(await copy.heads(), [third]);
    assert.equal((await machine.history("one", { limit: 10 })).length, 1);
    assert.equal(await machine.content(type, "a", "1"), undefined);
    assert.equal(await copy.seen(), undefined);
    await copy.isNewest();
    assert.ok(((await copy.seen()) ?? 0) > Date.now() - 60_000);
  });

  it("is one copy where two servers of a machine write it", async (t) => {
    const far = await memory(t);
    const machine = await memory(t);
    const copies = [new StoreCopy(machine), new StoreCopy(machine)];
    for (let round = 0; round < 20; round += 1) {
      const head = await commit(far, "one", resource("a", `${round}`), resource(`${round % 3}`, `${round}`));
      await Promise.all(copies.map((copy) => copy.take(far, [head])));
    }
    assert.deepEqual(await copies[0]?.heads(), await far.heads());
    const [head] = await machine.heads();
    assert.equal((await machine.read(head?.id ?? "")).length, 4);
  });
});
