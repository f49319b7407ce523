import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { SharedKeys } from "../../../contracts/stores/shared-keys.js";
import type { Store } from "../../../contracts/stores/store.js";
import type { JudgingOptions } from "../../../testing/clients/judging-client.js";
import { RolloutServers } from "../../../testing/rollout-servers.js";
import { responseIn } from "../../../testing/running-rest.js";
import { types } from "../../../testing/running-server.js";
import { withMethods } from "../../../testing/with-methods.js";
import { createMemoryPollTransport } from "../../../transports/memory/memory-polls.js";
import { positionOf } from "../course/share.js";

const [first = "", second = ""] = ["n1", "n2", "n3"].sort((a, b) => positionOf(a) - positionOf(b));

/**
 * Keys whose watches hear nothing while `isLate` says so, and do not hear of it later, either. Reads take their time
 * then, and puts take longer.
 */
function lateKeys(shared: SharedKeys, isLate: () => boolean): SharedKeys {
  return withMethods(shared, {
    async list(prefix) {
      if (isLate()) await delay(20);
      return await shared.list(prefix);
    },
    async put(one) {
      if (isLate()) await delay(500);
      return await shared.put(one);
    },
    watch: (prefix, listener) =>
      shared.watch(prefix, {
        ...listener,
        entriesChanged: (entries) => {
          if (!isLate()) listener.entriesChanged(entries);
        },
      }),
  });
}

/** From then on the other server hears nothing. */
type LateFrom = "change" | "reach" | "roll-back";

/** The first node has what the leader of a rollout has just given it, and the leader is gone. */
async function givenByLeader(t: TestContext, lateFrom: LateFrom) {
  const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 600_000 } });
  t.after(() => servers.close());
  const leader = await servers.start();
  await leader.write({ a: "1" });
  let isLate = false;
  const { store } = servers;
  const watch: Store["watch"] = (listener) =>
    store.watch({ ...listener, moved: (heads) => (isLate ? undefined : listener.moved(heads)) });
  const shared = lateKeys(store.shared, () => isLate);
  const other = await servers.start(withMethods(store, { shared, watch }));
  const clients = [leader.connect({ id: first }), other.connect({ id: second })];
  const [client = assert.fail()] = clients;
  await servers.until("both have it", () => clients.every(({ current }) => current.get("a") === "1"));
  other.isMember = lateFrom !== "change";
  isLate = lateFrom === "change";
  // The nodes of the other one are counted before the leader writes whom the step reaches.
  const { put } = store.shared;
  t.mock.method(store.shared, "put", (one: Parameters<typeof put>[0]) => {
    const isReach = one.key.startsWith("rollouts/course/") && !one.value.includes('"positions":[]');
    isLate ||= isReach && lateFrom === "reach";
    return put.call(store.shared, one);
  });
  await leader.write({ a: "2" });
  await servers.until("the first node has it", () => client.current.get("a") === "2");
  const heard = () => other.server.rollouts()[0]?.state;
  if (lateFrom === "roll-back") {
    await servers.until("both have heard of it", () => heard() === "soaking");
    isLate = true;
    assert.equal(await leader.shared.lead("edge", "rollBack"), "done");
    await servers.until("the first node has what was before", () => client.current.get("a") === "1");
  }
  assert.deepEqual([isLate, heard()], [true, heardAtMost[lateFrom]]);
  await leader.kill();
  return { servers, other, versionInfo: client.versionInfo };
}

/** The state of the rollout as the other server then knows it. */
const heardAtMost = { change: undefined, reach: "waiting", "roll-back": "soaking" } as const;

/** What a client gets there, one after the other. */
async function gets({ servers, other }: Awaited<ReturnType<typeof givenByLeader>>, options: JudgingOptions) {
  const seen: (string | undefined)[] = [];
  const judge = (contents: ReadonlyMap<string, string>) => {
    seen.push(contents.get("a"));
    return "accept" as const;
  };
  const client = other.connect({ ...options, judge });
  if (options.versionInfo === undefined) await servers.until("it has something", () => client.current.size > 0);
  for (let turns = 0; turns < 20; turns += 1) {
    await delay(5);
    await servers.pass(100);
  }
  return seen;
}

describe("a node that comes from a server that was ahead", { concurrency: true }, () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`never gets what was there before where nobody has heard yet that it was reached, over ${variant}`, async (t) => {
      const given = await givenByLeader(t, "reach");
      const back = gets(given, { id: first, variant });
      const held = gets(given, { id: `${second}0`, variant });
      assert.deepEqual([await back, await held], [["2"], ["1"]]);
    });
  }

  it("keeps what it has where neither the rollout nor its change is known", async (t) => {
    const given = await givenByLeader(t, "change");
    assert.deepEqual(await gets(given, { id: first, versionInfo: given.versionInfo }), []);
    assert.deepEqual(await gets(given, { id: `${second}0` }), ["1"]);
  });

  it("does not get again what was rolled back where nobody has heard of that yet", async (t) => {
    const given = await givenByLeader(t, "roll-back");
    assert.deepEqual(await gets(given, { id: first }), ["1"]);
  });

  it("waits as a stream only: polls and unary calls are answered at once by what is known", async (t) => {
    const { servers, other } = await givenByLeader(t, "reach");
    const list = t.mock.method(servers.store.shared, "list");
    const polls = createMemoryPollTransport();
    const answer = await polls
      .connect(await other.server.pollOn(polls, "polls"))
      .poll(types.cluster, { node: { id: first } }).answer;
    const contents = responseIn(answer)?.resources?.map(({ altStatName }) => altStatName);
    assert.deepEqual([contents, list.mock.callCount()], [["1"], 0]);
  });

  it("shares a read of the record with all that come with it", async (t) => {
    const given = await givenByLeader(t, "reach");
    const list = t.mock.method(given.servers.store.shared, "list");
    const all = Array.from({ length: 50 }, (_, index) => gets(given, { id: `${second}${index}` }));
    assert.equal(
      (await Promise.all(all)).every((seen) => seen.join() === "1"),
      true,
    );
    assert.ok(list.mock.callCount() < 5, `${list.mock.callCount()} reads`);
  });
});
