import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Store } from "../../../contracts/stores/store.js";
import type { RolloutSettings } from "../../../settings/rollout-settings.js";
import type { JudgingClient } from "../../../testing/clients/judging-client.js";
import { endingSessions } from "../../../testing/ending-sessions.js";
import { type RolloutServer, RolloutServers } from "../../../testing/rollout-servers.js";
import { withMethods } from "../../../testing/with-methods.js";
import { positionOf } from "../course/share.js";

/** Node ids in the order in which steps take them. */
const ids = Array.from({ length: 9 }, (_, index) => `n${index}`).sort((a, b) => positionOf(a) - positionOf(b));

/** The group of servers that keep rejected contents from later clients. */
const edge = { name: "edge", match: {}, layers: ["own"], onReject: "lastGood" } as const;

interface Fleet {
  readonly servers: RolloutServers;
  readonly clients: JudgingClient[];
  one(): RolloutServer;
  using(content: string): readonly string[];
  use(content: string, wanted: readonly string[]): Promise<void>;
  state(state: string, step?: number): Promise<void>;
}

/** Nine nodes of three servers that have cluster `a` with content `1`. */
async function fleetOf(t: TestContext, rollout: RolloutSettings, count = 3): Promise<Fleet> {
  const servers = await RolloutServers.create({ rollout });
  t.after(() => servers.close());
  for (let number = 0; number < count; number += 1) await servers.start();
  const one = () => servers.all[0] ?? assert.fail();
  await one().write({ a: "1" });
  const clients: JudgingClient[] = [];
  for (const [index, id] of ids.entries()) {
    const server = servers.all[index % count] ?? assert.fail();
    const judge = (contents: ReadonlyMap<string, string>) =>
      [...contents.values()].includes("bad") ? "reject" : "accept";
    clients.push(server.connect({ id, judge }));
  }
  const using = (content: string) => clients.filter(({ current }) => current.get("a") === content).map(({ id }) => id);
  const fleet: Fleet = {
    servers,
    clients,
    one,
    using,
    use: (content, wanted) =>
      servers.until(`${content} at ${wanted.join()}`, () => using(content).join() === [...wanted].join()),
    state: (state, step) =>
      servers.until(`${state} ${step}`, () =>
        servers.all.every(({ server }) => {
          const [found] = server.rollouts();
          return found?.state === state && (step === undefined || found.step === step);
        }),
      ),
  };
  await servers.until("all have it", () => using("1").length === ids.length);
  return fleet;
}

/** The store of these servers over a network, where each content takes its time. */
function slowIn(servers: RolloutServers, ms: number): Store {
  const content: Store["content"] = async (...asked) => {
    await delay(ms);
    return await servers.store.content(...asked);
  };
  return withMethods(servers.store, { content });
}

const inOrder = (wanted: readonly string[]) => ids.filter((id) => wanted.includes(id));

describe("a rollout of several servers", { concurrency: 4 }, () => {
  it("reaches one node of all, then a share of all, then all", async (t) => {
    const { servers, one, use, state } = await fleetOf(t, { steps: [{ count: 1 }, { percent: 50 }], soakMs: 1_000 });
    await one().write({ a: "2" });
    await state("soaking", 1);
    await use("2", ids.slice(0, 1));
    await servers.pass(500);
    await state("soaking", 1);
    await state("soaking", 2);
    await use("2", inOrder(ids.filter((id, index) => positionOf(id) < 0.5 || index === 0)));
    await state("completed");
    await use("2", ids);
  });

  it("takes nodes that come while a step has room, also if they had acknowledged what was before", async (t) => {
    const steps = [{ count: 3 }, { percent: 100 }];
    const { servers, one, use, state, clients } = await fleetOf(t, { steps, soakMs: 1_000 });
    for (const client of clients.splice(1)) client.leave();
    const [first] = clients;
    await one().write({ a: "2" });
    await state("soaking", 1);
    await use("2", [first?.id ?? ""]);
    for (const [index, id] of ids.slice(1, 4).entries())
      clients.push((servers.all[index] ?? assert.fail()).connect({ id }));
    await servers.until("all have something", () => clients.every(({ current }) => current.has("a")));
    await use("2", ids.slice(0, 3));
    await state("completed");
    await use("2", ids.slice(0, 4));
  });

  it("halts everywhere at a rejection, and is rolled back everywhere, also at a server that starts", async (t) => {
    const { servers, one, use, state, clients, using } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 1_000 });
    await one().write({ a: "bad" });
    await state("halted");
    for (const { server } of servers.all) assert.match(server.rollouts()[0]?.reason ?? "", /rejected it: no good/);
    const last = servers.all[2] ?? assert.fail();
    assert.equal(await last.shared.lead("edge", "rollBack", { id: 77 }), "other");
    assert.equal(await last.shared.lead("edge", "rollBack", { id: 1 }), "done");
    await state("rolled-back");
    for (const { server } of servers.all) assert.equal(server.quarantines().length, 1);
    const late = await servers.start();
    assert.equal(late.shared.neededSince, one().server.rollouts()[0]?.startedAt.getTime());
    assert.deepEqual(
      late.server.quarantines().map(({ name, cause }) => `${name} ${cause}`),
      ["a rolled-back"],
    );
    clients.push(late.connect({ id: "late" }));
    await servers.until("what was before", () => clients.at(-1)?.current.get("a") === "1");
    assert.deepEqual(using("bad"), []);
    // Nothing is left that must stay from nodes.
    await one().write({ a: "1" });
    const isFree = () => servers.all.every(({ shared }) => shared.neededSince === undefined);
    await servers.until("history is free", isFree);
    await one().write({ a: "3" });
    await state("completed");
    await use("3", [...ids, "late"]);
    for (const { server } of servers.all) assert.equal(server.quarantines().length, 0);
    assert.equal(late.shared.neededSince, undefined);
  });

  it("says that the store lost what it keeps, also after another problem", async (t) => {
    const { servers, one, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 100_000 });
    await one().write({ a: "2" });
    await state("soaking");
    const { store } = servers;
    let isAway = true;
    const list: Store["shared"]["list"] = async (prefix) => {
      if (isAway) throw new Error("nobody answers");
      return await store.shared.list(prefix);
    };
    const lossy = withMethods(store, { shared: withMethods(store.shared, { list }), content: async () => undefined });
    const { problems } = await servers.start(lossy, async () => {
      isAway = false;
    });
    const said = (text: string) => problems.filter(({ message }) => message.includes(text)).length;
    await servers.until("it is said", () => said("keeps a as before, but the store does not have that any more") > 0);
    assert.deepEqual([said("nobody answers"), said("any more")], [1, 1]);
  });

  it("is rolled back for good, until the quarantine is lifted at any server", async (t) => {
    const { servers, one, use, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 1_000 });
    await one().write({ a: "2", b: "2" });
    await state("soaking");
    assert.equal(await one().shared.lead("edge", "rollBack"), "done");
    await state("rolled-back");
    const [, second = assert.fail()] = servers.all;
    const found = second.server.quarantines().find(({ name }) => name === "a");
    assert.equal(found?.lift(), true);
    await use("2", ids);
    const left = ({ server }: RolloutServer) =>
      server
        .quarantines()
        .map(({ name }) => name)
        .join();
    await servers.until("one is left at all", () => servers.all.every((each) => left(each) === "b"));
    assert.equal(left(await servers.start()), "b");
  });

  it("is promoted, halted and resumed by any of them", async (t) => {
    const { servers, one, use, state } = await fleetOf(t, { steps: [{ count: 2 }], soakMs: 100_000 });
    const lead = (at: number, action: "halt" | "resume" | "promote") =>
      (servers.all[at] ?? assert.fail()).shared.lead("edge", action, { reason: "wait" });
    assert.equal(await lead(0, "promote"), "nothing");
    await one().write({ a: "2" });
    await state("soaking");
    assert.equal(await lead(1, "halt"), "done");
    await state("halted");
    assert.equal(await lead(2, "halt"), "nothing");
    assert.equal(await lead(2, "resume"), "done");
    await state("soaking");
    await use("2", ids.slice(0, 2));
    assert.equal(await lead(1, "promote"), "done");
    await state("completed");
    await use("2", ids);
  });

  it("begins anew with a change on top, and ends with what was before", async (t) => {
    const { servers, one, use, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 1_000 });
    await one().write({ a: "2" });
    await state("soaking");
    await (servers.all[1] ?? assert.fail()).write({ a: "3", b: "1" });
    await use("3", ids.slice(0, 1));
    await state("soaking");
    await (servers.all[2] ?? assert.fail()).write({ a: "1", b: undefined });
    await state("withdrawn");
    await use("1", ids);
    await one().write({ a: "2" });
    await state("soaking");
    await use("2", ids.slice(0, 1));
    await state("completed");
    await one().write({ a: "1" });
    await state("soaking");
    await use("1", ids.slice(0, 1));
    await state("completed");
    await one().write({ a: "2" });
    await state("soaking");
    await use("2", ids.slice(0, 1));
  });

  it("goes on under another leader, and does not wait for a server that is gone", async (t) => {
    const { servers, one, use, state, clients } = await fleetOf(t, {
      steps: [{ count: 1 }, { percent: 50 }],
      soakMs: 1_000,
    });
    await one().write({ a: "2" });
    await state("soaking", 1);
    const [leads] = await servers.store.shared.list("rollouts/leader");
    const leader = servers.all.find(({ name }) => name === leads?.value) ?? assert.fail();
    const at = servers.all.indexOf(leader);
    await leader.kill();
    // Its clients come to another server.
    for (const [index, id] of ids.entries()) if (index % 3 === at) clients[index] = one().connect({ id });
    await state("soaking", 2);
    await use("2", inOrder(ids.filter((id, index) => positionOf(id) < 0.5 || index === 0)));
    await state("completed");
    await use("2", ids);
    await servers.pass(1_000);
    assert.deepEqual(await servers.store.shared.list("rollouts/leader"), [], "nobody leads where nothing is led");
  });

  it("is led only by a server that knows the others", async (t) => {
    const { servers, one, using, use, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 1_000 }, 2);
    const [first, second] = [one(), servers.all[1] ?? assert.fail()];
    const leader = async () => (await servers.store.shared.list("rollouts/leader"))[0]?.value;
    const leads = async (wanted: string | undefined) => {
      for (let tries = 0; (await leader()) !== wanted; tries += 1) {
        assert.ok(tries < 500, `${await leader()} leads, not ${wanted}`);
        await servers.pass(50);
      }
    };
    await leads(undefined);
    const puts = servers.puts.length;
    for (const each of servers.all) each.knowsPeers = false;
    await first.write({ a: "2" });
    await state("waiting", 1);
    await servers.pass(2_000);
    const campaigned = servers.puts.slice(puts).filter(({ key }) => key === "rollouts/leader");
    assert.deepEqual([campaigned, using("2")], [[], []]);
    first.knowsPeers = true;
    await state("soaking", 1);
    assert.equal(await leader(), first.name);
    first.knowsPeers = false;
    await leads(undefined);
    await servers.pass(2_000);
    await use("2", ids.slice(0, 1));
    second.knowsPeers = true;
    await leads(second.name);
    await state("completed");
    await use("2", ids);
  });

  it("goes on under a leader that hears late that its session before is over", async (t) => {
    const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 1_000 } });
    t.after(() => servers.close());
    const { shared, opened } = endingSessions(servers.store.shared);
    const { server, write, connect } = await servers.start(withMethods(servers.store, { shared }));
    await write({ a: "1" });
    const client = connect({ id: "n1" });
    await servers.until("it has it", () => client.current.get("a") === "1");
    await write({ a: "2" });
    const is = (state: string) => servers.until(state, () => server.rollouts()[0]?.state === state);
    await is("soaking");
    const led = () => servers.puts.filter(({ key }) => key === "rollouts/leader").length;
    const count = led();
    const before = opened.at(-1);
    await before?.session.close();
    await servers.until("it leads again", () => led() > count, 1);
    await servers.pass(0);
    before?.lost();
    await is("completed");
  });

  // The watch of the lease tells what it read before a write, and then nothing more: to it nothing has changed since.
  for (const { what, stale, isBefore } of [
    { what: "that the lease is free, though it has it", stale: [], isBefore: false },
    {
      what: "that another one has the lease, which is gone",
      stale: [{ key: "rollouts/leader", value: "somebody", version: "0" }],
      isBefore: true,
    },
  ]) {
    it(`goes on under a leader that hears late ${what}`, async (t) => {
      const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 1_000 } });
      t.after(() => servers.close());
      const { shared } = servers.store;
      let tellsStale = () => {};
      const watch: typeof shared.watch = (prefix, listener) => {
        if (prefix !== "rollouts/leader") return shared.watch(prefix, listener);
        let isStale = false;
        tellsStale = () => {
          isStale = true;
          listener.entriesChanged(stale);
        };
        return shared.watch(
          prefix,
          withMethods(listener, { entriesChanged: (entries) => isStale || listener.entriesChanged(entries) }),
        );
      };
      const { server, write, connect } = await servers.start(
        withMethods(servers.store, { shared: withMethods(shared, { watch }) }),
      );
      await write({ a: "1" });
      const client = connect({ id: "n1" });
      await servers.until("it has it", () => client.current.get("a") === "1");
      if (isBefore) tellsStale();
      await write({ a: "2" });
      const is = (state: string) => servers.until(state, () => server.rollouts()[0]?.state === state);
      if (!isBefore) await is("soaking");
      if (!isBefore) tellsStale();
      await is("completed");
    });
  }

  it("begins though its record comes while the leader gives up its lease", async (t) => {
    const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 1_000 } });
    t.after(() => servers.close());
    let end = () => {};
    const isSlow = new Promise<void>((resolve) => {
      end = resolve;
    });
    let isGivingUp = false;
    const { shared } = servers.store;
    const session: typeof shared.session = async (options) => {
      const kept = await shared.session(options);
      const close = async () => {
        await kept.close();
        isGivingUp = true;
        await isSlow;
      };
      return withMethods(kept, { close });
    };
    try {
      const slow = withMethods(servers.store, { shared: withMethods(shared, { session }) });
      const { server, write, connect } = await servers.start(slow);
      await write({ a: "1" });
      const client = connect({ id: "n1" });
      const has = (content: string) => servers.until(content, () => client.current.get("a") === content);
      await has("1");
      await write({ a: "2" });
      await servers.until("nothing is led", () => isGivingUp);
      await write({ a: "3" });
      await servers.until("it is recorded", () => servers.puts.some(({ value }) => value.includes('"id":2')));
      await servers.pass(1_000);
      assert.equal(server.rollouts()[0]?.id, 2);
      end();
      await has("3");
    } finally {
      end();
    }
  });

  it("waits for a server that does not answer, and halts after the timeout with its name", async (t) => {
    const { servers, one, using, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 0, timeoutMs: 3_000 });
    const silent = servers.all[2] ?? assert.fail();
    silent.isSilent = true;
    await one().write({ a: "2" });
    await servers.pass(2_000);
    assert.deepEqual(using("2"), []);
    await state("halted");
    const leader = (await servers.store.shared.list("rollouts/leader"))[0]?.value;
    if (leader !== silent.name) assert.match(one().server.rollouts()[0]?.reason ?? "", /"server 3" does not have/);
    silent.isSilent = false;
  });

  it("holds back at a server that starts in the middle what it has not reached", async (t) => {
    const { servers, one, use, state, clients, using } = await fleetOf(t, { steps: [{ count: 2 }], soakMs: 2_000 });
    await one().write({ a: "2", b: "1" });
    await state("soaking");
    const late = await servers.start();
    clients.push(late.connect({ id: "late" }));
    await servers.until("what was before", () => clients.at(-1)?.current.get("a") === "1");
    assert.equal(clients.at(-1)?.current.has("b"), false);
    assert.deepEqual(using("2"), ids.slice(0, 2));
    await state("completed");
    await use("2", [...ids, "late"]);
  });

  it("holds back at a server that starts what a rollout has not reached that began meanwhile", async (t) => {
    const { servers, one, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 600_000 }, 1);
    const slow = slowIn(servers, 100);
    const late = await servers.start(slow, async () => {
      await one().write({ a: "2" });
      await state("soaking", 1);
    });
    const seen = new Set<string | undefined>();
    const judge = (contents: ReadonlyMap<string, string>) => {
      seen.add(contents.get("a"));
      return "accept" as const;
    };
    const moved = late.connect({ id: ids[1] ?? "", judge });
    await servers.until("it has something", () => moved.current.size > 0);
    for (let turns = 0; turns < 10; turns += 1) {
      await delay(30);
      await servers.pass(100);
    }
    assert.deepEqual([...seen], ["1"]);
  });

  it("holds back at a server that starts between a change and the record of its rollout", async (t) => {
    const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 600_000 } });
    t.after(() => servers.close());
    const { shared } = servers.store;
    let isFirst = true;
    const put: typeof shared.put = async (one) => {
      if (isFirst && one.key.startsWith("rollouts/course/")) await delay(300);
      isFirst &&= !one.key.startsWith("rollouts/course/");
      return await shared.put(one);
    };
    const first = await servers.start(withMethods(servers.store, { shared: withMethods(shared, { put }) }));
    await first.write({ a: "1" });
    const [reached = "", other = ""] = ids;
    const client = first.connect({ id: reached });
    await servers.until("it has what was there first", () => client.current.get("a") === "1");
    await first.write({ a: "2" });
    const late = await servers.start();
    const moved = late.connect({ id: other });
    await delay(500);
    await servers.until("the first one has it", () => client.current.get("a") === "2");
    await servers.until("the other one has something", () => moved.current.size > 0);
    assert.equal(moved.current.get("a"), "1");
  });

  for (const [whose, isAlone] of [
    ["a server that is alone", true],
    ["a server whose neighbor cannot write its record", false],
  ] as const) {
    it(`goes by steps if it comes to ${whose} before it tells nodes anything`, async (t) => {
      const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 600_000 } });
      t.after(() => servers.close());
      const { shared } = servers.store;
      let isCutOff = false;
      const put: typeof shared.put = async (one) => {
        if (isCutOff) throw new Error("the store is away");
        return await shared.put(one);
      };
      const first = await servers.start(withMethods(servers.store, { shared: withMethods(shared, { put }) }));
      await first.write({ a: "1" });
      if (isAlone) await first.close();
      isCutOff = true;
      const late = await servers.start(undefined, undefined, (starting) => starting.write({ a: "2" }));
      const reached = new Set<string>();
      for (const id of ids) {
        const judge = (contents: ReadonlyMap<string, string>) => {
          if (contents.get("a") === "2") reached.add(id);
          return "accept" as const;
        };
        late.connect({ id, judge });
      }
      await servers.until("one of them is reached", () => reached.has(ids[0] ?? ""));
      await servers.pass(1_000);
      assert.deepEqual([...reached], ids.slice(0, 1));
    });
  }

  it("holds back at a server that hears of the record before it has the change", async (t) => {
    // What heartbeats need is read in between.
    const servers = await RolloutServers.create({
      ttl: "always",
      rollout: { steps: [{ count: 1 }], soakMs: 600_000 },
    });
    t.after(() => servers.close());
    const { store } = servers;
    const first = await servers.start();
    await first.write({ a: "1" });
    // The other server is told of moved heads a moment later.
    const watch: Store["watch"] = (listener) =>
      store.watch({ ...listener, moved: (heads) => void delay(300).then(() => listener.moved(heads)) });
    const behind = await servers.start(withMethods(store, { watch }));
    const seen = new Set<string | undefined>();
    const judge = (contents: ReadonlyMap<string, string>) => {
      seen.add(contents.get("a"));
      return "accept" as const;
    };
    const [lowest = "", other = ""] = ids;
    const reached = first.connect({ id: lowest });
    const held = behind.connect({ id: other, judge });
    const have = (content: string) => reached.current.get("a") === content && held.current.get("a") === "1";
    await servers.until("both have it", () => have("1"));
    await first.write({ a: "2" });
    await delay(400);
    await servers.until("the first step is taken", () => have("2"));
    assert.deepEqual([...seen], ["1"]);
  });

  it("takes back at a server that did not wait for a slow store what the rollout has not reached", async (t) => {
    const { servers, one, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 600_000 }, 1);
    const late = await servers.start(slowIn(servers, 2_500), async () => {
      await one().write({ a: "2" });
      await state("soaking", 1);
    });
    const moved = late.connect({ id: ids[1] ?? "" });
    // The contents come half a second after the start gave up.
    await delay(1_000);
    await servers.until("it has what was before", () => moved.current.get("a") === "1");
  });

  it("takes back what the rollout has not reached also where another change came meanwhile", async (t) => {
    const { servers, one, state } = await fleetOf(t, { steps: [{ count: 1 }], soakMs: 600_000 }, 1);
    const meanwhile = async () => {
      await one().write({ a: "2" });
      await state("soaking", 1);
    };
    const late = await servers.start(slowIn(servers, 2_500), meanwhile, (starting) => starting.write({ b: "1" }));
    const moved = late.connect({ id: ids[1] ?? "" });
    await delay(1_000);
    await servers.until("it has what was before", () => moved.current.get("a") === "1");
    assert.equal(moved.current.has("b"), false);
  });

  it("is completed at once where no server has a node, and the next one begins where there is one", async (t) => {
    const servers = await RolloutServers.create({ rollout: { steps: [{ count: 1 }], soakMs: 1_000 } });
    t.after(() => servers.close());
    const [first, second] = [await servers.start(), await servers.start()];
    await first.write({ a: "1" });
    await first.write({ a: "2" });
    const state = (wanted: string) =>
      servers.until(wanted, () => servers.all.every(({ server }) => server.rollouts()[0]?.state === wanted));
    await state("completed");
    const client = second.connect({ id: "n1" });
    await servers.until("it has it", () => client.current.get("a") === "2");
    await first.write({ a: "3" });
    await state("soaking");
    assert.equal(client.current.get("a"), "3");
  });
});

describe("what a client of one of several servers rejected", { concurrency: true }, () => {
  it("is kept from clients that come to the others, also to one that starts, while its server is there", async (t) => {
    const { servers, one, two, quarantined } = await rejectedAtOne(t);
    const second = two.connect({ id: "second" });
    await servers.until("the good one", () => second.current.get("a") === "1");
    const later = (await servers.start()).connect({ id: "later" });
    await servers.until("the good one, too", () => later.current.get("a") === "1");
    await one.kill();
    await quarantined(0);
    await servers.until("the newest", () => [second, later].every(({ current }) => current.get("a") === "bad"));
  });

  it("is kept from nobody any more when it gets another content", async (t) => {
    const { servers, two, quarantined } = await rejectedAtOne(t);
    await two.write({ a: "3" });
    await quarantined(0);
    const second = two.connect({ id: "second" });
    await servers.until("the newest", () => second.current.get("a") === "3");
  });

  it("is kept from nobody any more when its server gives the group other layers", async (t) => {
    const { servers, one, two, first, quarantined } = await rejectedAtOne(t);
    first.leave();
    one.server.reconfigure({ groups: [{ ...edge, layers: ["own", "more"] }] });
    assert.deepEqual(one.server.quarantines(), []);
    await quarantined(0);
    const second = two.connect({ id: "second" });
    await servers.until("the newest", () => second.current.get("a") === "bad");
  });

  it("is kept from later clients again when a server keeps it from nobody for a while", async (t) => {
    const { servers, two, quarantined } = await rejectedAtOne(t);
    two.server.reconfigure({ groups: [{ ...edge, onReject: undefined }] });
    assert.deepEqual(two.server.quarantines(), []);
    two.server.reconfigure({ groups: [edge] });
    await quarantined(1);
    const second = two.connect({ id: "second" });
    await servers.until("the good one", () => second.current.get("a") === "1");
  });
});

/** A client of one of two servers has rejected content `bad` of cluster `a`, which had content `1`. */
async function rejectedAtOne(t: TestContext) {
  const servers = await RolloutServers.create({ onReject: "lastGood" });
  t.after(() => servers.close());
  const [one, two] = [await servers.start(), await servers.start()];
  await one.write({ a: "1" });
  const judge = (contents: ReadonlyMap<string, string>) =>
    [...contents.values()].includes("bad") ? ("reject" as const) : ("accept" as const);
  const first = one.connect({ id: "first", judge });
  await servers.until("it has it", () => first.current.get("a") === "1");
  await two.write({ a: "bad" });
  const quarantined = (wanted: number) =>
    servers.until(`${wanted} at all`, () => servers.all.every(({ server }) => server.quarantines().length === wanted));
  await quarantined(1);
  const [seen] = two.server.quarantines();
  assert.deepEqual([seen?.name, seen?.cause, seen?.node], ["a", "rejected", "first"]);
  return { servers, one, two, first, quarantined };
}
