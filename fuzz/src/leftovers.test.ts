import assert from "node:assert/strict";
import { after, test } from "node:test";
import { queryObjects, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { NameSet } from "../../packages/protocol/src/model/names/name-set.js";
import { LoadSession } from "../../packages/server/src/parts/load-reports/load-session.js";
import { ParkedPoll } from "../../packages/server/src/rest-polls/parked-poll.js";
import { Session } from "../../packages/server/src/streams/session.js";
import { runTarget } from "./kit/run-target.js";
import type { FuzzTarget } from "./kit/target.js";
import { createWatchdog } from "./kit/watchdog.js";
import { leavingClients } from "./targets/index.js";
import { rest } from "./targets/rest.js";
import { server } from "./targets/server.js";
import { wire } from "./targets/wire.js";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes in use, after a garbage collection. */
async function bytesInUse(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

type Class = new (...parts: never[]) => object;

/**
 * The number of objects of a class. Counted again if there are too many: V8 may find a stale pointer, and finalizers
 * release more.
 */
async function countOf(counted: object, most: number): Promise<number> {
  let count = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5 && count > most; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    count = Math.min(count, queryObjects(counted as Class, { format: "count" }));
  }
  return count;
}

/** `EFFORT=10` lets ten times as many clients come. */
const effort = Number(process.env.EFFORT ?? 1);
/** The first inputs, at least this many, fill the bounded memories, and make the compiler work. */
const warmUp = 100;
/**
 * The memory that a server keeps of clients on purpose fills up to its limits (responses, rejections, reports), which
 * is more than such a test reaches.
 */
const maxBytes = 24_000_000;

/** The objects of the healthy client, and a few that the compiler's registers may hold. */
const maxObjects = 4;
const maxNameSets = 40;

const watchdog = createWatchdog(120_000);
after(() => watchdog.close());

/** `runs`: after the target's own number, from another seed. */
const tried = [
  { target: server, runs: 100, counted: { Session } },
  { target: wire, runs: 40, counted: { LoadSession } },
  { target: rest, runs: 50, counted: { ParkedPoll } },
];

test("no target whose clients a server must forget is left out", () =>
  assert.deepEqual(
    tried.map(({ target }) => target),
    leavingClients,
  ));

for (const { target, runs, counted } of tried) {
  test(`whatever clients send, their calls end, others are served, and nothing of them is left: ${target.name}`, async (context) => {
    // One server for all inputs: its session is opened once and lent.
    const session = await target.open();
    const lent: FuzzTarget = { ...target, open: async () => ({ ...session, close: async () => {} }) };
    const run = async (seed: number, count: number) => {
      const { failure } = await runTarget(lent, { seed, runs: count, budgetMs: 20_000 * effort, watchdog });
      assert.equal(failure, undefined);
    };
    try {
      await run(1, Math.max(warmUp, target.suiteRuns * effort));
      const before = await bytesInUse();
      await run(2, runs * effort);
      const grown = (await bytesInUse()) - before;
      assert.ok(grown < maxBytes, `${grown} bytes more`);
      context.diagnostic(`${Math.round(grown / 1_000)} kB more`);
      for (const [name, each] of Object.entries(counted)) {
        const count = await countOf(each, maxObjects);
        assert.ok(count <= maxObjects, `there are ${count} of ${name}`);
        // The healthy client's object is found, so the count works.
        if (each === Session) assert.ok(count >= 1);
      }
      // Lists of names that clients chose.
      const nameSets = await countOf(NameSet, maxNameSets);
      assert.ok(nameSets <= maxNameSets, `there are ${nameSets} lists of names`);
    } finally {
      await session.close();
    }
  });
}
