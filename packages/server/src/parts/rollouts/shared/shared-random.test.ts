import assert from "node:assert/strict";
import { test } from "node:test";
import { createResource } from "@xdskit/api";
import { times } from "../../../testing/basics/effort.js";
import { randomFrom } from "../../../testing/basics/random.js";
import type { JudgingClient } from "../../../testing/clients/judging-client.js";
import { type RolloutServer, RolloutServers } from "../../../testing/rollout-servers.js";
import { cluster } from "../../../testing/test-resources.js";
import { isOver } from "../course/course.js";
import { createShare } from "../course/share.js";
import { courses, listPrefix, type RecordedChange, type RolloutRecord } from "../records/record.js";

/** `SEED=7` plays one seed. */
const { SEED } = process.env;
const seeds = SEED === undefined ? Array.from({ length: times(5) }, (_, index) => index + 1) : [Number(SEED)];
const turns = 120;
const actions = ["halt", "resume", "promote", "rollBack"] as const;

for (const seed of seeds) {
  test(`a rollout of several servers takes its steps one by one, whatever happens (seed ${seed})`, async (t) => {
    const random = randomFrom(seed);
    const rollout = { steps: [{ count: 2 }, { count: 4 }, { percent: 80 }], soakMs: 500, timeoutMs: 20_000 };
    const servers = await RolloutServers.create({ rollout });
    t.after(() => servers.close());
    const any = () => servers.all[random(servers.all.length)] ?? assert.fail();
    for (let number = 0; number < 3; number += 1) await servers.start();
    let content = 0;
    const contents = new Map<string, string>();
    const written = async (at: RolloutServer, text: string) => {
      contents.set(createResource(cluster("a", text)).version, text);
      await at.write({ a: text });
    };
    await written(any(), "v0");

    const at = new Map<string, RolloutServer>();
    const clients = new Map<string, JudgingClient>();
    const connect = (id: string, server: RolloutServer) => {
      clients.get(id)?.leave();
      at.set(id, server);
      const judge = (all: ReadonlyMap<string, string>) =>
        [...all.values()].some((each) => each.startsWith("bad")) ? ("reject" as const) : ("accept" as const);
      clients.set(id, server.connect({ id, judge }));
    };
    for (let number = 0; number < 9; number += 1) connect(`n${number}`, any());
    await servers.until("all have it", () => [...clients.values()].every(({ current }) => current.get("a") === "v0"));

    /** Nobody has what the record brings whom the record does not reach. */
    const check = async () => {
      const record = await recordIn(servers);
      if (record === undefined || isOver(record.course)) return;
      const entries = await servers.store.shared.list(listPrefix(record));
      const list = entries.flatMap(({ value }) => JSON.parse(value) as readonly RecordedChange[]);
      const wanted = contents.get(list.find(({ key }) => key === "a")?.wanted ?? "");
      const share = createShare(record.course.reach);
      for (const [id, { current }] of clients)
        if (wanted !== undefined && current.get("a") === wanted)
          assert.ok(share.has({ id } as Parameters<typeof share.has>[0]), `${id} has ${wanted}`);
    };

    for (let turn = 0; turn < turns; turn += 1) {
      switch (random(10)) {
        case 0:
        case 1:
          content += 1;
          await written(any(), `${random(4) === 0 ? "bad" : "v"}${content}`);
          break;
        case 2: {
          const dead = any();
          if (servers.all.length < 2) break;
          await dead.kill();
          for (const [id, server] of at) if (server === dead) connect(id, any());
          break;
        }
        case 3:
          if (servers.all.length < 4) await servers.start();
          break;
        case 4:
          any().isSilent = random(3) === 0;
          break;
        case 5:
          await any().shared.lead("edge", actions[random(actions.length)] ?? "halt");
          break;
        case 6: {
          const id = `n${random(9)}`;
          // A step by count takes those that come back if there are too few.
          if (random(2) === 0) clients.get(id)?.leave();
          else connect(id, any());
          break;
        }
        default:
          for (let steps = random(15); steps > 0; steps -= 1) {
            await servers.pass(50);
            await check();
          }
      }
      await check();
    }

    for (const each of servers.all) each.isSilent = false;
    await written(any(), "last");
    for (const [id, client] of clients) if (client.isAway) connect(id, any());
    let tries = 0;
    await servers.until("all have the last", () => {
      tries += 1;
      const [first] = servers.all;
      if (tries % 50 === 0 && first?.server.rollouts()[0]?.state === "halted") void first.shared.lead("edge", "resume");
      return [...clients.values()].every(({ current }) => current.get("a") === "last");
    });
    t.diagnostic(`${followsRules(historyOf(servers))} steps were taken`);
  });
}

async function recordIn(servers: RolloutServers): Promise<RolloutRecord | undefined> {
  const [entry] = await servers.store.shared.list(courses);
  return entry && (JSON.parse(entry.value) as RolloutRecord);
}

function historyOf({ puts }: RolloutServers): readonly RolloutRecord[] {
  return puts.filter(({ key }) => key.startsWith(courses)).map(({ value }) => JSON.parse(value) as RolloutRecord);
}

/** Holds the line of all records against the rules; returns how many steps began. */
function followsRules(history: readonly RolloutRecord[]): number {
  const taken = new Set<string>();
  for (const [index, { id, writes, course, change }] of history.entries()) {
    const before = history[index - 1];
    assert.equal(writes, index + 1, "each write follows the one before");
    if (course.isChosen && course.phase === "waiting" && before?.course.phase === "choosing") {
      const step = `${id} ${course.list} ${course.step}`;
      assert.ok(!taken.has(step), `step ${step} is taken twice`);
      assert.ok(
        course.step === 0 || taken.has(`${id} ${course.list} ${course.step - 1}`),
        `before ${step} one is left out`,
      );
      taken.add(step);
    }
    if (before === undefined || before.id !== id) {
      assert.ok(before === undefined || (isOver(before.course) && id === before.id + 1));
      assert.deepEqual([course.list, course.step, course.phase], [1, 0, "choosing"]);
      continue;
    }
    assert.ok(!isOver(before.course), "what is over stays over");
    const { reach, list, step } = course;
    assert.ok(reach.percent >= before.course.reach.percent, "who is reached stays reached");
    assert.deepEqual(reach.positions.slice(0, before.course.reach.positions.length), before.course.reach.positions);
    assert.equal(list === before.course.list, change === before.change, "another change is another list");
    if (list !== before.course.list) continue;
    assert.ok(step === before.course.step || step === before.course.step + 1, "one step at a time");
    if (before.course.phase === "halted" && step !== before.course.step) assert.fail("a halt holds");
  }
  return taken.size;
}
