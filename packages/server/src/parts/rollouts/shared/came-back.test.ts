import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SharedKeys } from "../../../contracts/stores/shared-keys.js";
import type { Store } from "../../../contracts/stores/store.js";
import { changed } from "../../../testing/changed.js";
import type { JudgingOptions } from "../../../testing/clients/judging-client.js";
import { RolloutServers } from "../../../testing/rollout-servers.js";
import { positionOf } from "../course/share.js";

const [first = "", second = ""] = ["n1", "n2", "n3"].sort((a, b) => positionOf(a) - positionOf(b));

/**
 * Keys whose watches hear nothing while `isLate` says so, and do not hear of it later, either. Puts take their time
 * then.
 */
function lateKeys(shared: SharedKeys, isLate: () => boolean): SharedKeys {
  return changed(shared, {
    async put(one) {
      if (isLate()) await delay(500);
      return await shared.put(one);
    },
    watch: (prefix, listener) =>
      shared.watch(prefix, {
        ...listener,
        changed: (entries) => {
          if (!isLate()) listener.changed(entries);
        },
      }),
  });
}

/** The first node has what the leader of a rollout has just given it, and the leader is gone. */
async function reachedAtLeader(t: TestContext, areLayersLate = false) {
  const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 600_000 } });
  t.after(() => servers.close());
  const leader = await servers.start();
  await leader.write({ a: "1" });
  let isLate = false;
  const { store } = servers;
  const watch: Store["watch"] = (listener) =>
    store.watch({ ...listener, moved: (heads) => (isLate && areLayersLate ? undefined : listener.moved(heads)) });
  const shared = lateKeys(store.shared, () => isLate);
  const other = await servers.start(changed(store, { shared, watch }));
  const clients = [leader.connect({ id: first }), other.connect({ id: second })];
  await servers.until("both have it", () => clients.every(({ held }) => held.get("a") === "1"));
  if (areLayersLate) {
    other.isMember = false;
    isLate = true;
  }
  // The nodes of the other one are counted before the leader writes whom the step reaches.
  const { put } = store.shared;
  t.mock.method(store.shared, "put", (one: Parameters<typeof put>[0]) => {
    isLate ||= one.key.startsWith("rollouts/course/") && !one.value.includes('"positions":[]');
    return put.call(store.shared, one);
  });
  await leader.write({ a: "2" });
  await servers.until("the first node has it", () => clients[0]?.held.get("a") === "2");
  assert.equal(isLate, true);
  assert.equal(other.server.rollouts()[0]?.nodes.reached ?? 0, 0, "it has not heard of the node");
  const { versionInfo } = clients[0] ?? assert.fail();
  await leader.kill();
  return { servers, other, versionInfo };
}

/** What a client gets there, one after the other. */
async function gets({ servers, other }: Awaited<ReturnType<typeof reachedAtLeader>>, options: JudgingOptions) {
  const seen: (string | undefined)[] = [];
  const judge = (contents: ReadonlyMap<string, string>) => {
    seen.push(contents.get("a"));
    return "accept" as const;
  };
  const client = other.connect({ ...options, judge });
  if (options.versionInfo === undefined) await servers.until("it has something", () => client.held.size > 0);
  for (let turns = 0; turns < 20; turns += 1) {
    await delay(5);
    await servers.pass(100);
  }
  return seen;
}

describe("a node that a rollout has reached at another server", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`never gets what was there before at a server that has not heard of that yet, over ${variant}`, async (t) => {
      const given = await reachedAtLeader(t);
      const back = gets(given, { id: first, variant });
      const held = gets(given, { id: `${second}0`, variant });
      assert.deepEqual([await back, await held], [["2"], ["1"]]);
    });
  }

  it("keeps what it has at a server that has heard of neither the rollout nor its change", async (t) => {
    const given = await reachedAtLeader(t, true);
    assert.deepEqual(await gets(given, { id: first, versionInfo: given.versionInfo }), []);
    assert.deepEqual(await gets(given, { id: `${second}0` }), ["1"]);
  });
});
