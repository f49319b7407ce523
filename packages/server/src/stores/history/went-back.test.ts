import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { createMemoryStore } from "../tables/memory-store.js";
import { WentBackLooks } from "./went-back.js";

async function commit(store: Store): Promise<readonly Revision[]> {
  const layer = "one";
  const info = { author: "me", cause: { kind: "api", caller: "" }, message: "", time: 1 } as const;
  const parent = (await store.head(layer))?.id;
  await store.commit([{ layer, parent, kind: "patch", upsert: [], always: true }], info);
  return await store.heads();
}

/** Looks at a store that went back from its second revision to its first one. */
async function looked(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const store = await createMemoryStore();
  t.after(() => store.close());
  const heads = [await commit(store)];
  const backup = await createMemoryStore();
  t.after(() => backup.close());
  await commit(backup);
  heads.push(await commit(store));
  const reading = { isPossible: true, store };
  const told: string[] = [];
  const head = async (layer: string) => {
    if (!reading.isPossible) throw new Error("no member answers");
    return await reading.store.head(layer);
  };
  const looks = new WentBackLooks(
    { head },
    {
      back: (layers) =>
        told.push(...layers.map(({ layer, known, head }) => `${layer} ${known.number} ${head?.number}`)),
      failed: (error) => told.push((error as Error).message),
    },
  );
  t.after(() => looks.close());
  looks.moved(heads[1] ?? []);
  await nextTurn();
  reading.store = backup;
  reading.isPossible = false;
  looks.moved(await backup.heads());
  await nextTurn();
  assert.deepEqual(told, ["no member answers"]);
  reading.isPossible = true;
  return { looks, told, backup };
}

describe("a look whether a store went back", () => {
  it("is made again where it failed", async (t) => {
    const { told } = await looked(t);
    t.mock.timers.tick(60_000);
    await nextTurn();
    assert.deepEqual(told, ["no member answers", "one 2 1"]);
    t.mock.timers.tick(60_000);
    await nextTurn();
    assert.equal(told.length, 2);
  });

  it("finds with the next news what one that failed has not found", async (t) => {
    const { looks, told, backup } = await looked(t);
    looks.moved(await backup.heads());
    await nextTurn();
    assert.deepEqual(told, ["no member answers", "one 2 1"]);
    t.mock.timers.tick(60_000);
    await nextTurn();
    assert.equal(told.length, 2);
  });
});
