import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { CommitInfo, Store, StoredResource } from "@xdskit/server";
import { withMethods } from "../../packages/server/src/testing/with-methods.js";
import { EtcdClient } from "../../packages/store-etcd/src/client/etcd-client.js";
import type { Transaction } from "../../packages/store-etcd/src/client/messages.js";
import { EtcdStore } from "../../packages/store-etcd/src/etcd-store.js";
import { peer } from "./harness/basics/peers.js";
import { EtcdCluster } from "./harness/peers/etcd.js";

const prefix = "/collecting";
const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const info: CommitInfo = { author: "a test", cause: { kind: "api", caller: "a test" }, message: "", time: 1_000 };
/** Two of these names are more than one value of a checkpoint holds. */
const longName = "n".repeat(400_000);

function resource(key: string, version: string): StoredResource {
  return { type, key, version, bytes: Buffer.from(version) };
}

/** An etcd of one member; undefined where it is not installed. */
async function cluster(t: TestContext): Promise<EtcdCluster | undefined> {
  const program = peer("etcd", t);
  if (program === undefined) return undefined;
  const etcd = await EtcdCluster.start(program, { size: 1 });
  t.after(() => etcd.stop());
  return etcd;
}

/** A store of this etcd, whose client does some of its work in another way. */
function opened(
  t: TestContext,
  { endpoints }: EtcdCluster,
  instead: (client: EtcdClient) => Partial<EtcdClient> = () => ({}),
): Store {
  const client = new EtcdClient({ endpoints });
  const store = new EtcdStore("etcd", withMethods(client, instead(client)), prefix);
  t.after(() => store.close());
  return store;
}

async function patch(store: Store, upsert: readonly StoredResource[]): Promise<string> {
  const parent = (await store.head("a"))?.id;
  const result = await store.commit([{ layer: "a", parent, kind: "patch", upsert }], info);
  return (result.kind === "committed" ? result.heads[0]?.id : undefined) ?? assert.fail(result.kind);
}

async function versionsOf(store: Store): Promise<readonly string[]> {
  const head = (await store.head("a")) ?? assert.fail("there is no head");
  return (await store.read(head.id)).map(({ bytes }) => Buffer.from(bytes).toString()).sort();
}

/** Whether it puts this part of a checkpoint. */
function putsPart({ operations }: Transaction, part: number): boolean {
  return operations.some(({ kind, ...one }) => kind === "put" && "key" in one && partOf(one.key) === part);
}

function partOf(key: string): number | undefined {
  const [, part] = /\/checkpoints\/.*\/(\d+)$/.exec(key) ?? [];
  return part === undefined ? undefined : Number(part);
}

describe("the collecting of old revisions in etcd", () => {
  for (const failing of [0, 1, 2])
    it(`loses nothing where part ${failing} of a checkpoint cannot be written`, { timeout: 60_000 }, async (t) => {
      const etcd = await cluster(t);
      if (etcd === undefined) return;
      let isFailing = true;
      const store = opened(t, etcd, (client) => ({
        async transaction(transaction, timeoutMs) {
          if (isFailing && putsPart(transaction, failing)) throw new Error("no member answers");
          return await client.transaction(transaction, timeoutMs);
        },
      }));
      const long = Array.from({ length: 4 }, (_, index) => resource(`${longName}${index}`, `long ${index}`));
      await patch(store, long);
      await patch(store, [resource("last", "last")]);
      const whole = [...long.map(({ version }) => version), "last"].sort();
      await assert.rejects(store.retain({ revisions: 1, since: 0 }), /no member answers/);
      assert.deepEqual(await versionsOf(opened(t, etcd)), whole);
      isFailing = false;
      assert.equal(await store.retain({ revisions: 1, since: 0 }), 1);
      assert.deepEqual(await versionsOf(opened(t, etcd)), whole);
    });

  it("leaves what a writer commits that is taken for dead meanwhile", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const further = new EtcdClient({ endpoints: etcd.endpoints });
    t.after(() => further.close());
    let [goOn, paused] = [() => {}, () => {}];
    const isPaused = new Promise<void>((resolve) => {
      paused = resolve;
    });
    const goesOn = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const writer = opened(t, etcd, (client) => ({
      async transactionOnce(transaction) {
        paused();
        await goesOn;
        return await client.transactionOnce(transaction);
      },
    }));
    await patch(opened(t, etcd), [resource("one", "first")]);
    const writing = patch(writer, [resource("one", "second")]);
    await isPaused;
    // As if it had been stopped for a minute after it wrote ahead.
    const lives = { kind: "delete", key: `${prefix}/writers/`, end: `${prefix}/writers0` } as const;
    await further.transaction({ compare: [], operations: [lives] });
    const store = opened(t, etcd, (client) => ({
      async range(range) {
        const answer = await client.range(range);
        // It goes on once the history was read.
        if (range.key.startsWith(`${prefix}/history/`)) {
          goOn();
          await writing;
        }
        return answer;
      },
    }));
    await store.retain({ revisions: 10, since: 0 });
    const written = await writing;
    assert.equal((await opened(t, etcd).head("a"))?.id, written);
    assert.deepEqual(await versionsOf(opened(t, etcd)), ["second"]);
    await store.retain({ revisions: 1, since: 0 });
    assert.deepEqual(await versionsOf(opened(t, etcd)), ["second"]);
  });

  it("looks for the newest checkpoint with one request, however many revisions stay", {
    timeout: 60_000,
  }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    let looks = 0;
    const store = opened(t, etcd, (client) => ({
      async range(range) {
        if (range.key.startsWith(`${prefix}/checkpoints/`)) looks += 1;
        return await client.range(range);
      },
    }));
    for (let number = 1; number <= 40; number += 1) await patch(store, [resource("one", `${number}`)]);
    // It makes a checkpoint of the head, behind which more revisions stay.
    assert.equal(await store.retain({ revisions: 35, since: 0 }), 5);
    for (let number = 41; number <= 60; number += 1) await patch(store, [resource("one", `${number}`)]);
    looks = 0;
    assert.equal(await store.retain({ revisions: 35, since: 0 }), 20);
    // One lists the checkpoints, and another one what is left of others.
    assert.equal(looks, 2);
    assert.deepEqual(await versionsOf(opened(t, etcd)), ["60"]);
  });

  it("stops where a head names a revision that is missing", { timeout: 60_000 }, async (t) => {
    const etcd = await cluster(t);
    if (etcd === undefined) return;
    const store = opened(t, etcd);
    const further = new EtcdClient({ endpoints: etcd.endpoints });
    t.after(() => further.close());
    await patch(store, [resource("one", "first"), resource("two", "second")]);
    const id = await patch(store, [resource("one", "third")]);
    const key = `${prefix}/revisions/${id}`;
    const [revision = assert.fail("it is not there")] = (await further.range({ key })).found;
    // A dead writer left its mark: it is time to collect.
    const mark = { kind: "put", key: `${prefix}/ahead/dead`, value: "1" } as const;
    await further.transaction({ compare: [], operations: [{ kind: "delete", key }, mark] });
    await assert.rejects(store.retain({ revisions: 10, since: 0 }), { code: "XDSKIT_STORE" });
    await further.transaction({ compare: [], operations: [{ kind: "put", key, value: revision.value }] });
    assert.deepEqual(await versionsOf(opened(t, etcd)), ["second", "third"]);
  });
});
