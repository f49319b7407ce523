import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ReceivedResource } from "@xdskit/protocol";
import type { ClientEvent } from "./client-event.js";
import type { ClientOptions } from "./client-options.js";
import { createClientWith } from "./create-client.js";
import { manualClock } from "./testing/manual-clock.js";
import { receivedCluster, type ScriptedUpstream, scriptedUpstreams } from "./testing/scripted-upstream.js";
import { settle } from "./testing/settle.js";
import type { Collection, CollectionWatcher, ResourceWatcher, WatchIterator, XdsClient } from "./xds-client.js";

const cluster = resourceTypes.find("cluster")!;

interface Tools {
  readonly client: XdsClient;
  of(server: string): ScriptedUpstream;
  /** The only server. */
  readonly one: ScriptedUpstream;
  readonly clock: ReturnType<typeof manualClock>;
  readonly events: ClientEvent[];
}

async function withClient(test: (tools: Tools) => Promise<void>, options: Partial<ClientOptions> = {}): Promise<void> {
  const clock = manualClock();
  const { create, of } = scriptedUpstreams();
  const client = createClientWith({ servers: ["one:1"], node: { id: "me" }, clock, ...options }, create);
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  try {
    await test({ client, of, one: of("one:1"), clock, events });
  } finally {
    await client.close();
  }
}

/** Lets all that was begun come to its end. */

/** Writes down what it is told: `web new`, `error XDSKIT_…`, `beside XDSKIT_…`. */
function recorder(): ResourceWatcher & { readonly log: string[]; take(): string[] } {
  const log: string[] = [];
  return {
    log,
    onChanged: ({ name, message }) =>
      void log.push(`${name} ${"altStatName" in message ? message.altStatName : ""}`.trim()),
    onError: ({ code }) => void log.push(`error ${code}`),
    onAmbient: ({ code }) => void log.push(`beside ${code}`),
    take: () => log.splice(0),
  };
}

/** `a,b +a -c`. */
function collector(): CollectionWatcher & { take(): string[] } {
  const log: string[] = [];
  return {
    onChanged({ resources, upserted, removed }) {
      log.push(`${[...resources.keys()].sort()} +${upserted.map(({ name }) => name).sort()} -${[...removed].sort()}`);
    },
    onError: ({ code }) => void log.push(`error ${code}`),
    onAmbient: ({ code }) => void log.push(`beside ${code}`),
    take: () => log.splice(0),
  };
}

describe("watchers", () => {
  it("share a subscription, which ends with the last one and begins anew after it", () =>
    withClient(async ({ client, one }) => {
      const [first, second] = [recorder(), recorder()];
      const watches = [client.watch("cluster", "a", first), client.watch(ClusterSchema, "a", second)];
      assert.deepEqual(one.log, ["+cluster a"]);
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await settle();
      assert.deepEqual([first.take(), second.take()], [["a 1"], ["a 1"]]);
      watches[0]?.cancel();
      one.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      assert.deepEqual([first.take(), second.take()], [[], ["a 2"]]);
      watches[1]?.cancel();
      watches[1]?.cancel();
      assert.deepEqual(one.log.splice(0), ["+cluster a", "-cluster a"]);
      const third = recorder();
      client.watch("cds", "a", third);
      await settle();
      assert.deepEqual([one.log, third.take()], [["+cluster a"], []]);
    }));

  it("of one name may be as many as anybody likes", () =>
    withClient(async ({ client, one }) => {
      let told = 0;
      for (let index = 0; index < 200_000; index += 1) client.watch("cluster", "a", { onChanged: () => void told++ });
      await settle();
      one.answer(cluster, { upserted: [receivedCluster("a")] });
      assert.equal(told, 200_000);
    }));

  it("that come late get what is there, in a later turn and before what comes then", () =>
    withClient(async ({ client, one }) => {
      client.watch("cluster", "a", recorder());
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      const late = recorder();
      client.watch("cluster", "a", late);
      assert.deepEqual(late.take(), []);
      await settle();
      assert.deepEqual(late.take(), ["a 1"]);
      one.answer(cluster, { upserted: [receivedCluster("a", "2")] });
      assert.deepEqual(late.take(), ["a 2"]);
      one.sink.failed(cluster, XdskitError.of("XDSKIT_UPSTREAM_AWAY", "away"), false);
      const later = recorder();
      client.watch("cluster", "a", later);
      await settle();
      assert.deepEqual(later.take(), ["a 2", "beside XDSKIT_UPSTREAM_AWAY"]);
      one.answer(cluster, { removed: ["a"] });
      const last = recorder();
      client.watch("cluster", "a", last);
      await settle();
      assert.deepEqual(
        [late.take(), last.take()],
        [["beside XDSKIT_UPSTREAM_AWAY", "error XDSKIT_RESOURCE_ABSENT"], ["error XDSKIT_RESOURCE_ABSENT"]],
      );
    }));

  it("hear of a server that is away beside what they have, and in its place where they have nothing, once", () =>
    withClient(async ({ client, one }) => {
      const [has, lacks, all] = [recorder(), recorder(), collector()];
      client.watch("cluster", "a", has);
      client.watch("cluster", "b", lacks);
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      await settle();
      client.watch("cluster", "*", all);
      one.fail();
      one.fail();
      await settle();
      assert.deepEqual(has.take(), ["a 1", "beside XDSKIT_UPSTREAM_AWAY"]);
      assert.deepEqual(lacks.take(), ["error XDSKIT_UPSTREAM_AWAY"]);
      assert.deepEqual(all.take(), ["error XDSKIT_UPSTREAM_AWAY"]);
      const late = recorder();
      client.watch("cluster", "c", late);
      await settle();
      assert.deepEqual(late.take(), ["error XDSKIT_UPSTREAM_AWAY"]);
      one.answer(cluster, { upserted: [receivedCluster("a", "2")], absent: ["b"] });
      await settle();
      assert.deepEqual([has.take(), lacks.take(), all.take()], [["a 2"], ["error XDSKIT_RESOURCE_ABSENT"], ["a +a -"]]);
      one.fail();
      assert.deepEqual(has.take(), ["beside XDSKIT_UPSTREAM_AWAY"]);
      // It comes back with nothing new, and goes again.
      one.answer(cluster, {});
      const later = [recorder(), recorder()] as const;
      client.watch("cluster", "a", later[0]);
      client.watch("cluster", "c", later[1]);
      await settle();
      assert.deepEqual([has.take(), later[0].take(), later[1].take()], [[], ["a 2"], []]);
      one.fail();
      assert.deepEqual(
        [has.take(), later[1].take()],
        [["beside XDSKIT_UPSTREAM_AWAY"], ["error XDSKIT_UPSTREAM_AWAY"]],
      );
    }));

  it("hear of what was rejected beside what they have, and in its place where they have nothing", () =>
    withClient(async ({ client, one }) => {
      const [has, lacks, other, all] = [recorder(), recorder(), recorder(), collector()];
      client.watch("cluster", "a", has);
      client.watch("cluster", "b", lacks);
      client.watch("cluster", "c", other);
      one.answer(cluster, { upserted: [receivedCluster("a", "1"), receivedCluster("c", "1")] });
      client.watch("cluster", "*", all);
      await settle();
      for (const each of [has, other, all]) each.take();
      one.sink.responded(cluster);
      const findings = [
        { code: "XDSKIT_RULE_BROKEN", severity: "error", message: "too short", field: "name" },
      ] as const;
      one.sink.rejected(cluster, "2", "all of it is bad", [
        { name: "a", findings },
        { name: "b", findings },
      ]);
      await settle();
      assert.deepEqual(has.take(), ["beside XDSKIT_UPDATE_REJECTED"]);
      assert.deepEqual(lacks.take(), ["error XDSKIT_UPDATE_REJECTED"]);
      assert.deepEqual(other.take(), []);
      // Nothing good came, so nothing is known of the whole.
      assert.deepEqual(all.take(), ["error XDSKIT_UPDATE_REJECTED"]);
    }));

  it("of a collection hear once a response, and of an empty one too", () =>
    withClient(async ({ client, one }) => {
      const all = collector();
      client.watch("cluster", "*", all);
      one.answer(cluster, {});
      await settle();
      assert.deepEqual(all.take(), [" + -"]);
      const many = Array.from({ length: 1_000 }, (_, index) => receivedCluster(`c${index}`));
      one.answer(cluster, { upserted: many });
      assert.equal(all.take().length, 1);
      one.answer(cluster, { upserted: [receivedCluster("c1", "new")], removed: many.slice(2).map(({ name }) => name) });
      assert.deepEqual(
        all.take().map((text) => text.slice(0, 10)),
        ["c0,c1 +c1 "],
      );
      const late = collector();
      client.watch("cluster", "*", late);
      await settle();
      assert.deepEqual(late.take(), ["c0,c1 +c0,c1 -"]);
      assert.deepEqual(one.log, ["+cluster *"]);
    }));

  it("of a collection get first what others asked for by name, and late ones hear what does not exist", () =>
    withClient(async ({ client, one }) => {
      client.watch("cluster", "a", recorder());
      client.watch("cluster", "none", recorder());
      one.fail();
      one.answer(cluster, { upserted: [receivedCluster("a")], absent: ["none"] });
      const all = collector();
      client.watch("cluster", "*", all);
      one.answer(cluster, { upserted: [receivedCluster("b")] });
      one.answer(cluster, {});
      const late = recorder();
      client.watch("cluster", "none", late);
      await settle();
      assert.deepEqual([all.take(), late.take()], [["a,b +a,b -"], ["error XDSKIT_RESOURCE_ABSENT"]]);
    }));

  it("of a glob collection get its members, and those of a single name by its alias", () =>
    withClient(async ({ client, one }) => {
      const type = "envoy.config.cluster.v3.Cluster";
      const [glob, alias] = [collector(), recorder()];
      client.watchCollection("cluster", `xdstp://x/${type}/dir/*`, glob);
      client.watch("cluster", "alias", alias);
      const real: ReceivedResource = { ...receivedCluster("real", "1"), aliases: ["alias"] };
      const members = ["dir/a", "dir/b", "other/c"].map((path) => receivedCluster(`xdstp://x/${type}/${path}`));
      one.answer(cluster, { upserted: [...members, { ...real, message: receivedCluster("real", "1").message }] });
      await settle();
      assert.deepEqual(
        glob.take().map((text) => text.replaceAll(`xdstp://x/${type}/`, "")),
        ["dir/a,dir/b +dir/a,dir/b -"],
      );
      assert.deepEqual(alias.take(), ["real 1"]);
      one.answer(cluster, { removed: ["real", `xdstp://x/${type}/dir/a`] });
      await settle();
      assert.deepEqual(alias.take(), ["error XDSKIT_RESOURCE_ABSENT"]);
      assert.deepEqual(
        glob.take().map((text) => text.replaceAll(`xdstp://x/${type}/`, "")),
        ["dir/b + -dir/a"],
      );
      assert.throws(() => client.watch("cluster", `xdstp://x/${type}/dir/*`, recorder()), /XDSKIT_CLIENT_OPTION/);
      assert.throws(() => client.watchCollection("cluster", "a", collector()), /XDSKIT_CLIENT_OPTION/);
      const wrong = recorder();
      client.watch("listener", `xdstp://x/${type}/a`, wrong);
      await settle();
      assert.deepEqual(wrong.take(), ["error XDSKIT_NAME_XDSTP"]);
    }));

  it("that are slow hold up reading, and are called one after the other", () =>
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
      // What comes from elsewhere meanwhile, as the end of a TTL does: the newest counts.
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

  it("that take too long hold up nobody any more, and get the newest in the end", () =>
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

  it("that throw harm nobody", () =>
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

  it("may cancel and watch from inside a call", () =>
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
  it("gives the newest to who is slow, and what is different in a collection since the last time", () =>
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
        // What came and went while nobody read is nothing to tell.
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

describe("get", () => {
  it("gives the first answer, and leaves nothing behind", () =>
    withClient(async ({ client, one }) => {
      const got = client.get(ClusterSchema, "a");
      one.answer(cluster, { upserted: [receivedCluster("a", "1")] });
      assert.equal((await got).message.altStatName, "1");
      const none = client.get("cluster", "b");
      one.answer(cluster, { absent: ["b"] });
      await assert.rejects(none, /XDSKIT_RESOURCE_ABSENT/);
      assert.equal(one.wanted.size, 0);
    }));

  it("ends by a timeout, a signal, and the end of the client", () =>
    withClient(async ({ client, one, clock }) => {
      const late = client.get("cluster", "a", { timeout: 100 });
      clock.advance(100);
      await assert.rejects(late, /XDSKIT_CLIENT_TIMEOUT/);
      const controller = new AbortController();
      const stopped = client.get("cluster", "a", { signal: controller.signal });
      controller.abort(new Error("enough"));
      await assert.rejects(stopped, /enough/);
      await assert.rejects(client.get("cluster", "a", { signal: controller.signal }), /enough/);
      assert.equal(one.wanted.size, 0);
      assert.deepEqual(clock.waiting, []);
      const waiting = client.get("cluster", "a");
      const closed = assert.rejects(waiting, /XDSKIT_CLIENT_CLOSED/);
      await client.close();
      await closed;
      await assert.rejects(client.get("cluster", "a"), /XDSKIT_CLIENT_CLOSED/);
      assert.throws(() => client.watch("cluster", "a", recorder()), /XDSKIT_CLIENT_CLOSED/);
    }));
});
