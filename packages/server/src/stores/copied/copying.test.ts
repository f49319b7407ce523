import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { CopiedKeys } from "../../contracts/stores/copied-keys.js";
import type { SharedPut } from "../../contracts/stores/shared-keys.js";
import type { CommitResult, Store, StoredResource } from "../../contracts/stores/store.js";
import { withMethods } from "../../testing/with-methods.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { Copying } from "./copying.js";
import { StoreCopy } from "./store-copy.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;
const keys: CopiedKeys = {
  prefix: "x/",
  isCopied: (key) => key.startsWith("x/kept/"),
  contentsOf: (entries) => entries.map(({ value }) => ({ type, key: "a", version: value })),
};

async function memory(t: TestContext): Promise<Store> {
  const store = await createMemoryStore();
  t.after(() => store.close());
  return store;
}

function resource(version: string): StoredResource {
  return { type, key: "a", version, bytes: Buffer.from(version) };
}

async function commit(store: Store, version: string): Promise<void> {
  const parent = (await store.head("one"))?.id;
  const { kind } = await store.commit([{ layer: "one", parent, kind: "patch", upsert: [resource(version)] }], info);
  assert.equal(kind, "committed");
}

async function eventually(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    assert.ok(tries < 1_000, what);
    await delay(10);
  }
}

/** A machine whose disk is slow: a write of a key that begins so ends when it is let go. */
class SlowMachine {
  readonly store: Store;
  readonly puts: string[] = [];
  #hold: string | undefined;
  #letGo: () => void = () => {};

  constructor(t: TestContext, store: Store) {
    t.after(() => this.letGo());
    const put = async (one: SharedPut) => {
      this.puts.push(one.key);
      if (this.#hold !== undefined && one.key.startsWith(this.#hold))
        await new Promise<void>((resolve) => {
          this.#letGo = resolve;
        });
      return await store.shared.put(one);
    };
    this.store = withMethods(store, { shared: withMethods(store.shared, { put }) });
  }

  hold(prefix: string): void {
    this.#hold = prefix;
    this.puts.length = 0;
  }

  letGo(): void {
    this.#hold = undefined;
    this.#letGo();
  }
}

function copying(t: TestContext, far: Store, copy: StoreCopy): void {
  const copying = new Copying(far, copy, (finding) => assert.fail(finding?.message), keys);
  t.after(() => copying.close());
}

describe("a store that is being copied", () => {
  it("has what changes while the copy says that it is the newest", async (t) => {
    const [far, machine] = [await memory(t), new SlowMachine(t, await memory(t))];
    await commit(far, "1");
    const copy = new StoreCopy(machine.store);
    const valueThere = async () => (await copy.shared("x/kept/"))[0]?.value;
    copying(t, far, copy);
    await eventually("it is not copied", async () => (await copy.seen()) !== undefined);
    machine.hold("copy/seen");
    await far.shared.put({ key: "x/kept/a", value: "1", expected: "any" });
    await eventually("it is not about to say so", () => machine.puts.includes("copy/seen"));
    await far.shared.put({ key: "x/kept/a", value: "2", expected: "any" });
    // The store tells of it in a later turn.
    await delay(250);
    assert.equal(await valueThere(), "1");
    machine.letGo();
    await eventually("the change is forgotten", async () => (await valueThere()) === "2");
  });

  it("is no copy before the keys that a start needs are there", async (t) => {
    const [far, machine] = [await memory(t), new SlowMachine(t, await memory(t))];
    await commit(far, "1");
    await far.shared.put({ key: "x/kept/a", value: "1", expected: "any" });
    const copy = new StoreCopy(machine.store);
    machine.hold("copy/shared/");
    copying(t, far, copy);
    await eventually("no key is written", () => machine.puts.length > 0);
    await nextTurn();
    assert.equal(await copy.seen(), undefined);
    machine.letGo();
    await eventually("it is not copied", async () => (await copy.seen()) !== undefined);
    assert.equal((await copy.heads()).length, 1);
  });

  it("is left alone where only keys change that are not copied", async (t) => {
    const [far, machine] = [await memory(t), new SlowMachine(t, await memory(t))];
    await commit(far, "1");
    await far.shared.put({ key: "x/kept/a", value: "1", expected: "any" });
    const copy = new StoreCopy(machine.store);
    copying(t, far, copy);
    await eventually("it is not copied", async () => (await copy.seen()) !== undefined);
    await delay(50);
    machine.puts.length = 0;
    await far.shared.put({ key: "x/other", value: "1", expected: "any" });
    await delay(250);
    assert.deepEqual(machine.puts, []);
    await far.shared.put({ key: "x/kept/b", value: "1", expected: "any" });
    await eventually("it is not copied any more", () => machine.puts.includes("copy/shared/x/kept/b"));
  });

  it("is taken again where others write the copy each time before it is written", async (t) => {
    const far = await memory(t);
    await commit(far, "1");
    const machine = await memory(t);
    let conflicts = 0;
    const instead = async (...[layers]: Parameters<Store["commit"]>): Promise<CommitResult> => {
      conflicts += 1;
      return { kind: "conflict", layer: layers[0]?.layer ?? "", head: undefined };
    };
    const copy = new StoreCopy(withMethods(machine, { commit: instead }));
    const wasFaster = { code: "XDSKIT_STORE", message: /other servers of this machine wrote to it/ };
    await assert.rejects(copy.take(far, await far.heads()), wasFaster);
    const entries = [{ key: "x/kept/a", value: "1", version: "1" }];
    await assert.rejects(copy.takeShared(far, keys, entries), wasFaster);
    assert.ok(conflicts > 2);
    assert.deepEqual(await copy.shared("x/"), []);
  });
});
