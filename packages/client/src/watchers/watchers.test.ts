import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes, XdskitError } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import type { ReceivedResource } from "@xdskit/protocol";
import { receivedCluster } from "../testing/scripted/scripted-upstream.js";
import { settle } from "../testing/settle.js";
import { collector, recorder, withClient } from "../testing/watching.js";

const cluster = resourceTypes.find("cluster")!;

describe("watchers", () => {
  it("watchers share a subscription, which ends with the last one and begins anew after it", () =>
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

  it("watchers may be many for one name", () =>
    withClient(async ({ client, one }) => {
      let told = 0;
      for (let index = 0; index < 200_000; index += 1) client.watch("cluster", "a", { onChanged: () => void told++ });
      await settle();
      one.answer(cluster, { upserted: [receivedCluster("a")] });
      assert.equal(told, 200_000);
    }));

  it("watchers get the current state in a later turn, before newer changes, if they come late", () =>
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

  it("watchers are told once of an absent server, beside their resource or in its place if they have none", () =>
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

  it("watchers are told of a rejection beside their resource, or in its place if they have none", () =>
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
      // No good response came, so the whole is unknown.
      assert.deepEqual(all.take(), ["error XDSKIT_UPDATE_REJECTED"]);
    }));

  it("watchers of a collection are called once for each response, even of an empty one", () =>
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

  it("watchers of a collection first get the members that others asked for by name, and late ones are told missing names", () =>
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

  it("watchers get the members of a glob collection, and a single name by its alias", () =>
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
});
