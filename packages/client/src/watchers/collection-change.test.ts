import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import type { WatchItem, WatchIterator } from "../contract/watch.js";
import type { Collection } from "../contract/xds-client.js";
import { createClientWith } from "../create-client.js";
import { receivedCluster, type ScriptedUpstream, scriptedUpstreams } from "../testing/scripted/scripted-upstream.js";
import { settle } from "../testing/settle.js";

const cluster = resourceTypes.find("cluster")!;

async function withIterator(test: (read: () => Promise<string>, one: ScriptedUpstream) => Promise<void>) {
  const { create, of } = scriptedUpstreams();
  const client = createClientWith({ servers: ["one:1"], node: { id: "me" } }, create);
  const iterator: WatchIterator<Collection> = client.watch("cluster", "*");
  await settle();
  try {
    await test(async () => {
      const item: WatchItem<Collection> | undefined = (await iterator.next()).value;
      if (item?.kind !== "changed") return String(item?.kind);
      const { resources, upserted, removed } = item.value;
      return `${[...resources.keys()]} +${upserted.map(({ name }) => name)} -${removed}`;
    }, of("one:1"));
  } finally {
    await client.close();
  }
}

describe("the unread changes of a collection", () => {
  it("the unread changes are one change from the last read state", () =>
    withIterator(async (read, one) => {
      one.answer(cluster, { upserted: ["a", "b", "c"].map((name) => receivedCluster(name, "1")) });
      assert.equal(await read(), "a,b,c +a,b,c -");
      one.answer(cluster, { removed: ["a", "b"] });
      one.answer(cluster, { upserted: [receivedCluster("a", "2"), receivedCluster("d", "2")] });
      one.answer(cluster, { upserted: [receivedCluster("c", "3"), receivedCluster("d", "3")] });
      one.answer(cluster, { removed: ["a"] });
      assert.equal(await read(), "c,d +d,c -b,a");
      one.answer(cluster, { upserted: [receivedCluster("e")] });
      assert.equal(await read(), "c,d,e +e -");
    }));

  it("the unread changes leave out members that came and went, however many", () =>
    withIterator(async (read, one) => {
      one.answer(cluster, { upserted: [receivedCluster("a")] });
      for (let index = 0; index < 100; index++) {
        one.answer(cluster, { upserted: [receivedCluster(`c${index}`)] });
        one.answer(cluster, { removed: [`c${index}`] });
      }
      assert.equal(await read(), "a +a -");
      for (let index = 0; index < 100; index++) {
        one.answer(cluster, { upserted: [receivedCluster(`c${index}`)] });
        one.answer(cluster, { removed: [`c${index}`] });
      }
      one.answer(cluster, { removed: ["a"] });
      assert.equal(await read(), " + -a");
    }));

  it("the unread changes cost the new changes, and not those that wait already", () =>
    withIterator(async (read, one) => {
      let looks = 0;
      const counted = (name: string) =>
        Object.defineProperty({ ...receivedCluster(name) }, "name", {
          enumerable: true,
          get() {
            looks += 1;
            return name;
          },
        });
      one.answer(cluster, { upserted: Array.from({ length: 1_000 }, (_, index) => counted(`c${index}`)) });
      one.answer(cluster, { upserted: [receivedCluster("more")] });
      const before = looks;
      for (let index = 0; index < 100; index++)
        one.answer(cluster, { upserted: [receivedCluster("more", `${index}`)] });
      assert.equal(looks - before, 0);
      await read();
    }));
});
