import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, encodeStored, type RolloutState, type Store } from "@xdskit/server";
import { cluster, resourcesOf } from "../../../../relay/src/testing/relayed.js";
import { manualClock } from "../../../../server/src/testing/basics/manual-clock.js";
import { waitFor } from "../../../../server/src/testing/basics/wait-for.js";
import { delta } from "../../../../server/src/testing/clients/xds-client.js";
import { ads, urlOf, withMemoryServer } from "../../../../server/src/testing/running-server.js";
import { eventually } from "../../testing/command.js";
import { KeptHistory } from "./retention.js";

const day = 24 * 3_600_000;

/** A store whose layer has this many revisions, the first one that many days old, and each next one a day younger. */
async function storeOf(revisions: number, days: number): Promise<Store> {
  const store = await createMemoryStore();
  for (let number = 0; number < revisions; number += 1) {
    const [resource] = resourcesOf(cluster("a", `${number + 1}s`));
    const upsert = [encodeStored(resource ?? assert.fail())];
    const info = { author: "", cause: { kind: "source", source: "" }, message: "" } as const;
    const parent = (await store.head("a"))?.id;
    const time = Date.now() - (days - number) * day;
    await store.commit([{ layer: "a", parent, kind: "patch", upsert }], { ...info, time });
  }
  return store;
}

function historyOf(
  store: Store,
  rollout?: { readonly state: RolloutState; readonly startedAt: Date; readonly keepsBack?: boolean },
  everyMs?: number,
  rejectedAt?: Date,
) {
  const quarantine = { group: "edge", cause: "rolled-back", since: new Date() };
  const server = {
    rollouts: () => (rollout === undefined ? [] : [{ ...rollout, group: "edge" }]),
    quarantines: () => [
      ...(rollout?.keepsBack === true ? [quarantine] : []),
      ...(rejectedAt === undefined ? [] : [{ group: "edge", cause: "rejected", since: rejectedAt }]),
    ],
    oldestInUse: () => (rejectedAt === undefined ? undefined : new Date()),
  } as never;
  return new KeptHistory({ settings: undefined, server, store, everyMs, failed: assert.fail });
}

const countOf = async (store: Store) => (await store.history("a", { limit: 1_000 })).length;

describe("the history of a running server", () => {
  it("loses what becomes too old while nothing changes, except the ten newest revisions", async () => {
    const store = await storeOf(20, 200);
    const history = historyOf(store, undefined, 10);
    await eventually(
      () => countOf(store),
      (count) => count === 10,
    );
    history.close();
  });

  it("keeps what the settings say, as soon as they are in use", async () => {
    const store = await storeOf(30, 30);
    const history = historyOf(store);
    await history.use({ age: 20.5 * day });
    assert.equal(await countOf(store), 20);
    await history.use({ revisions: 15 });
    assert.equal(await countOf(store), 15);
    await history.use({ revisions: 1 });
    assert.equal(await countOf(store), 10);
    history.close();
  });

  it("keeps what a rollout in progress began with, however old", async () => {
    const startedAt = new Date(Date.now() - 25.5 * day);
    for (const [state, keepsBack, kept] of [
      ["halted", false, 25],
      ["rolled-back", true, 25],
      ["rolled-back", false, 10],
      ["completed", false, 10],
    ] as const) {
      const store = await storeOf(30, 30);
      const history = historyOf(store, { state, startedAt, keepsBack });
      await history.use({ revisions: 1, age: day });
      assert.equal(await countOf(store), kept, state);
      history.close();
    }
  });

  it("keeps what a rollout of all servers of the store needs, before this server's groups know it", async () => {
    for (const [neededSince, kept] of [
      [Date.now() - 25.5 * day, 25],
      [0, 30],
      [undefined, 10],
    ] as const) {
      const store = await storeOf(30, 30);
      const history = historyOf(store);
      history.share({ neededSince });
      await history.use({ revisions: 1, age: day });
      assert.equal(await countOf(store), kept);
      history.close();
    }
  });

  it("keeps what a client that does not answer has used since, up to the age, until it answers", () => {
    const clock = manualClock();
    return withMemoryServer({ clock }, async ({ server, client }) => {
      const keeping = async (settings: Parameters<KeptHistory["use"]>[0], kept: number) => {
        const store = await storeOf(30, 30);
        const history = new KeptHistory({ settings: undefined, server, store, failed: assert.fail });
        await history.use(settings);
        assert.equal(await countOf(store), kept);
        history.close();
      };
      const typeUrl = urlOf("cluster");
      const stream = delta(client.open(ads("delta")));
      const isSynced = () => server.node("n1")?.state === "synced";
      server.config.set(resourcesOf(cluster("a", "1s")));
      stream.send({ node: { id: "n1" }, typeUrl });
      stream.send({ typeUrl, responseNonce: (await stream.next()).nonce });
      await waitFor("the first acknowledgement", isSynced);
      clock.advance(100 * day);
      await keeping({ revisions: 3 }, 10);
      server.config.set(resourcesOf(cluster("a", "2s")));
      const { nonce } = await stream.next();
      clock.advance(20.5 * day);
      // The one that it uses is half a day older.
      await keeping({ revisions: 3 }, 21);
      await keeping({ revisions: 3, age: 15.5 * day }, 15);
      stream.send({ typeUrl, responseNonce: nonce });
      await waitFor("the second acknowledgement", isSynced);
      await keeping({ revisions: 3 }, 10);
    });
  });

  it("keeps what clients use in place of a content that one of them rejected", async () => {
    const store = await storeOf(30, 30);
    const history = historyOf(store, undefined, undefined, new Date(Date.now() - 20.5 * day));
    await history.use({ revisions: 3 });
    assert.equal(await countOf(store), 21);
    history.close();
  });

  it("keeps what a client may use that has fallen behind since the last look at all of them", async () => {
    const store = await createMemoryStore();
    let looks = 0;
    const server = {
      rollouts: () => [],
      quarantines: () => [],
      oldestInUse() {
        looks += 1;
        return new Date();
      },
    };
    const history = new KeptHistory({ settings: { revisions: 3 }, server, store, failed: assert.fail });
    const looked = history.now();
    for (let edit = 0; edit < 20; edit += 1) assert.equal(history.now().usedSince, looked.usedSince);
    assert.equal(looks, 1);
    history.close();
  });
});
