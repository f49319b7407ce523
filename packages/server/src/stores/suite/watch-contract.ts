import assert from "node:assert/strict";
import { it } from "node:test";
import type { Revision, Store } from "../../contracts/stores/store.js";
import { Heard, type StoreUnderTest, withTwo } from "./store-under-test.js";

const info = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 } as const;
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A writer may not have seen yet what another one wrote a moment ago: then it tries again. */
async function patchAll(store: Store, layers: readonly string[], version: string): Promise<readonly string[]> {
  for (let tries = 0; tries < 100; tries += 1) {
    const commits = [];
    for (const layer of layers) {
      const parent = (await store.head(layer))?.id;
      const upsert = [{ type, key: "one", version, bytes: Buffer.from(version) }];
      commits.push({ layer, parent, kind: "patch", upsert } as const);
    }
    const result = await store.commit(commits, info);
    if (result.kind === "committed") return result.heads.map((head) => head?.id ?? assert.fail());
  }
  return assert.fail("others were always faster");
}

function idsOf(heads: readonly Revision[]): readonly string[] {
  return heads.map(({ id }) => id);
}

function watched(store: Store): Heard<readonly Revision[]> {
  const heard = new Heard<readonly Revision[]>();
  const { close } = store.watch({ moved: (heads) => heard.tell(heads), away: ({ message }) => heard.fail(message) });
  heard.close = close;
  return heard;
}

/** The tests of a store's watch of heads. */
export function describeWatching(under: StoreUnderTest): void {
  it("a watch begins with all heads, also where there is none", () =>
    withTwo(under, async (store) => {
      const first = watched(store);
      await first.until((heads) => heads.length === 0);
      const heads = [...(await patchAll(store, ["a"], "1")), ...(await patchAll(store, ["b"], "1"))];
      const second = watched(store);
      await second.until((found) => idsOf(found).join() === heads.join());
      for (const heard of [first, second]) heard.close();
    }));

  it("a watch hears of every writer, and ends with the newest heads", () =>
    withTwo(under, async (store, other) => {
      const heard = watched(store);
      await heard.until((heads) => heads.length === 0);
      let newest: readonly string[] = [];
      for (let number = 1; number <= 10; number += 1) {
        newest = await patchAll(number % 2 === 0 ? store : other, ["a"], `${number}`);
        if (number % 3 === 0) await heard.until((heads) => idsOf(heads).join() === newest.join());
      }
      await heard.until((heads) => idsOf(heads).join() === newest.join());
      const numbers = heard.all.map((heads) => heads[0]?.number ?? 0);
      assert.deepEqual(
        numbers,
        [...new Set(numbers)].sort((a, b) => a - b),
      );
      heard.close();
    }));

  it("what one commit moved is told at once", () =>
    withTwo(under, async (store, other) => {
      const heard = watched(store);
      let newest: readonly string[] = [];
      for (let number = 1; number <= 20; number += 1) newest = await patchAll(other, ["a", "b", "c"], `${number}`);
      await heard.until((heads) => idsOf(heads).join() === newest.join());
      for (const heads of heard.all) assert.ok(new Set(heads.map(({ number }) => number)).size <= 1);
      heard.close();
    }));

  it("a watch that was closed hears nothing more", () =>
    withTwo(under, async (store, other) => {
      const [closed, open] = [watched(store), watched(store)];
      await closed.until((heads) => heads.length === 0);
      closed.close();
      const newest = await patchAll(other, ["a"], "1");
      await open.until((heads) => idsOf(heads).join() === newest.join());
      assert.equal(closed.all.length, 1);
      open.close();
    }));
}
