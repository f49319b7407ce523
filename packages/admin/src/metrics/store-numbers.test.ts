import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, type Store } from "@xdskit/server";
import { countedStore } from "./store-numbers.js";

const info = { author: "me", cause: { kind: "api", caller: "me" }, message: "", time: 1 } as const;
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const patch = (parent: string | undefined, key: string) => ({
  layer: "api",
  parent,
  kind: "patch" as const,
  upsert: [{ type, key, version: key, bytes: new Uint8Array([1]) }],
});

describe("the numbers of a store", () => {
  it("count commits by cause and result, and name the newest revisions", async () => {
    const { store, numbers } = countedStore(await createMemoryStore());
    assert.deepEqual(numbers(), {
      isAway: false,
      failing: undefined,
      lastCommit: undefined,
      commits: [],
      revisions: [],
    });
    const before = Date.now();
    const first = await store.commit([patch(undefined, "a")], info);
    assert.equal(first.kind, "committed");
    const id = first.kind === "committed" ? first.heads[0]?.id : undefined;
    await store.commit([patch(id, "b")], { ...info, cause: { kind: "files", files: [] } });
    assert.equal((await store.commit([patch(id, "c")], info)).kind, "conflict");
    const { commits, revisions, lastCommit = 0 } = numbers();
    assert.deepEqual(revisions, [{ layer: "api", number: 2 }]);
    assert.ok(lastCommit >= before && lastCommit <= Date.now());
    assert.deepEqual(
      commits.map(({ cause, result, count }) => `${cause} ${result} ${count}`),
      ["api committed 1", "files committed 1", "api conflict 1"],
    );
    await store.close();
  });

  it("say that the store is away, or cannot be written, until it can", async () => {
    const real = await createMemoryStore();
    let isFull = true;
    let tell: Parameters<Store["watch"]>[0] | undefined;
    const failing = Object.assign(Object.create(real) as Store, {
      commit: (...args: Parameters<Store["commit"]>) =>
        isFull ? Promise.reject(new Error("the disk is full")) : real.commit(...args),
      watch(listener: Parameters<Store["watch"]>[0]) {
        tell = listener;
        return { close() {} };
      },
    });
    const { store, numbers } = countedStore(failing);
    await assert.rejects(store.commit([patch(undefined, "a")], info), /disk is full/);
    assert.match(numbers().failing?.finding.message ?? "", /disk is full/);
    isFull = false;
    await store.commit([patch(undefined, "a")], info);
    assert.equal(numbers().failing, undefined);
    store.watch({ moved() {}, away() {} });
    tell?.away({ code: "XDSKIT_STORE", severity: "error", message: "away" });
    assert.equal(numbers().isAway, true);
    tell?.moved([]);
    assert.equal(numbers().isAway, false);
    await real.close();
  });
});
