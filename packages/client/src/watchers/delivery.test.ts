import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ReceivedResource } from "@xdskit/protocol";
import type { WatchIterator } from "../contract/watch.js";
import type { Collection } from "../contract/xds-client.js";
import { receivedCluster } from "../testing/scripted/scripted-upstream.js";
import { settle } from "../testing/settle.js";
import { recorder, withClient } from "../testing/watching.js";

const cluster = resourceTypes.find("cluster")!;

describe("watchers", () => {
  it("watchers are told nothing of a server's absence that was over before they were ready", () =>
    withClient(async ({ client, one }) => {
      const log: string[] = [];
      let release = () => {};
      client.watch(ClusterSchema, "a", {
        onChanged({ message }) {
          log.push(message.altStatName);
          return new Promise<void>((resolve) => {
            release = resolve;
          });
        },
        onAmbient: ({ code }) => void log.push(code),
      });
      const watch = client.watch(ClusterSchema, "a");
      const first = watch.next();
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await first;
      one.fail();
      one.answer(cluster, {});
      release();
      await settle();
      const next = watch.next();
      one.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      await settle();
      const { value } = await next;
      assert.deepEqual([log, value?.kind], [["1", "2"], "changed"]);
      // It is told of a server that is away.
      release();
      await settle();
      one.fail();
      const away = await watch.next();
      assert.deepEqual([log, away.value?.kind], [["1", "2", "XDSKIT_UPSTREAM_AWAY"], "ambient"]);
    }));

  it("watchers hold up reading while they are slow, and are called one after the other", () =>
    withClient(async ({ client, one }) => {
      const seen: string[] = [];
      const releases: (() => void)[] = [];
      client.watch(ClusterSchema, "a", {
        onChanged({ message }) {
          seen.push(`begins ${message.altStatName}`);
          return new Promise<void>((resolve) => releases.push(resolve)).then(
            () => void seen.push(`ends ${message.altStatName}`),
          );
        },
      });
      await settle();
      let read = false;
      const first = one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      void Promise.resolve(first).then(() => {
        read = true;
      });
      await settle();
      assert.equal(read, false);
      // Another change comes meanwhile, such as the end of a TTL: the newest state counts.
      void one.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      const last = one.answer(cluster, { upserted: [receivedCluster("a", "3")] });
      assert.deepEqual(seen, ["begins 1"]);
      releases.shift()?.();
      await settle();
      assert.deepEqual(seen, ["begins 1", "ends 1", "begins 3"]);
      releases.shift()?.();
      await first;
      await last;
      assert.deepEqual(seen, ["begins 1", "ends 1", "begins 3", "ends 3"]);
      assert.equal(one.answer(cluster, { removed: ["a"] }), undefined);
    }));

  it("watchers hold up nothing once they take too long, and get the newest in the end", () =>
    withClient(
      async ({ client, one, clock, events }) => {
        const seen: unknown[] = [];
        let release = () => {};
        client.watch(ClusterSchema, "a", {
          onChanged({ message }) {
            seen.push(message.altStatName);
            return new Promise<void>((resolve) => {
              release = resolve;
            });
          },
        });
        await settle();
        const taken = one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
        clock.advance(1_000);
        await taken;
        assert.deepEqual(events.filter(({ kind }) => kind === "watcher-failed").length, 1);
        for (const content of ["2", "3"]) {
          assert.equal(one.answer(cluster, { upserted: [receivedCluster("a", content)] }), undefined);
        }
        release();
        await settle();
        assert.deepEqual(seen, ["1", "3"]);
        release();
        await settle();
        const again = one.answer(cluster, { upserted: [receivedCluster("a", "4")] });
        assert.ok(again instanceof Promise);
        release();
        await again;
      },
      { limits: { watcherMs: 1_000 } },
    ));

  it("watchers harm no others when they throw", () =>
    withClient(async ({ client, one, events }) => {
      const good = recorder();
      client.watch("cluster", "a", {
        onChanged() {
          throw new Error("mine");
        },
        onError: () => Promise.reject(new Error("mine too")),
      });
      client.watch("cluster", "a", good);
      await settle();
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      one.answer(cluster, { removed: ["a"] });
      await settle();
      assert.deepEqual(good.take(), ["a 1", "error XDSKIT_RESOURCE_ABSENT"]);
      assert.equal(events.filter(({ kind }) => kind === "watcher-failed").length, 2);
    }));

  it("watchers may cancel and watch from inside a call", () =>
    withClient(async ({ client, one }) => {
      const inner = recorder();
      const outer = client.watch("cluster", "a", {
        onChanged() {
          outer.cancel();
          client.watch("cluster", "b", inner);
        },
      });
      await settle();
      one.answer(cluster, { upserted: [receivedCluster("a"), receivedCluster("b")] });
      assert.deepEqual(one.log, ["+cluster a", "-cluster a", "+cluster b"]);
      one.answer(cluster, { upserted: [receivedCluster("b", "1")] });
      await settle();
      assert.deepEqual(inner.take(), ["b 1"]);
    }));
});

describe("a watch as an iterator", () => {
  it("a watch as an iterator gives the newest state to a slow reader, and for a collection the differences since the last time", () =>
    withClient(async ({ client, one }) => {
      const watch = client.watch(ClusterSchema, "a");
      const all: WatchIterator<Collection> = client.watch(ClusterSchema, "*");
      const first = watch.next();
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      const item = await first;
      assert.ok(item.value?.kind === "changed" && item.value.value.message.altStatName === "1");
      one.answer(cluster, { upserted: [receivedCluster("a", "2"), receivedCluster("b")] });
      one.answer(cluster, { upserted: [receivedCluster("a", "3")] });
      one.answer(cluster, { removed: ["b"] });
      one.fail();
      const kinds: string[] = [];
      for await (const { kind } of watch) {
        kinds.push(kind);
        if (kind === "ambient") break;
      }
      assert.deepEqual(kinds, ["changed", "ambient"]);
      assert.deepEqual(await watch.next(), { done: true, value: undefined });
      const { value } = await all.next();
      assert.ok(value?.kind === "changed");
      assert.deepEqual(
        [
          [...value.value.resources.keys()],
          value.value.upserted.map(({ name }: ReceivedResource) => name),
          value.value.removed,
        ],
        // A resource that came and went without a read is not reported.
        [["a"], ["a"], []],
      );
      const end = all.next();
      const ambient = await end;
      assert.equal(ambient.value?.kind, "ambient");
      const last = all.next();
      await client.close();
      assert.deepEqual(await last, { done: true, value: undefined });
    }));
});
