import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { runTarget } from "./kit/run-target.js";
import type { FuzzTarget } from "./kit/target.js";
import { createWatchdog } from "./kit/watchdog.js";
import { answers } from "./targets/answers.js";
import { bodies } from "./targets/bodies.js";
import { bootstraps } from "./targets/bootstraps.js";
import { client } from "./targets/client.js";
import { crowd } from "./targets/crowd.js";
import { files } from "./targets/files.js";
import { http2 } from "./targets/http2.js";
import { leavingClients, targets } from "./targets/index.js";
import { names } from "./targets/names.js";
import { settings } from "./targets/settings.js";
import { stream } from "./targets/stream.js";

/** The same inputs each time: a failure in the suite happens again. `npm run fuzz` tries more. */
const seed = 1;
/** `EFFORT=10` tries ten times as many inputs. */
const effort = Number(process.env.EFFORT ?? 1);
/** The time that one target may take on a slow machine. */
const budgetMs = 15_000 * Math.max(1, effort);

const watchdog = createWatchdog(120_000);
const tried = new Set<FuzzTarget>();
after(() => watchdog.close());

test("whatever a file holds, it is read or refused with findings that name the problem and its place", (t) =>
  holds(t, files));

test("whatever a body of the API holds, it is read or refused with findings that say where", (t) => holds(t, bodies));

test("whatever a settings file holds, it is read or refused with findings that say where", (t) => holds(t, settings));

test("whatever a bootstrap holds, it makes options of a client or is refused with findings that say where", (t) =>
  holds(t, bootstraps));

test("whatever bytes a client sends, the machine takes them or ends that stream with a status", (t) =>
  holds(t, stream));

test("whatever a server sends, a client answers each response once, and never breaks", (t) => holds(t, client));

test("whatever a server sends, a client of a crowd answers like one that shares nothing", (t) => holds(t, crowd));

test("whatever name a client or a file has, it has one canonical form, which means the same", (t) => holds(t, names));

test("whatever frames a client sends over HTTP/2, the server answers by frames, the connection ends, and others are served", (t) =>
  holds(t, http2));

test("whatever a REST server answers, a client takes the good parts, reports the bad ones, and goes on", (t) =>
  holds(t, answers));

test("no target is left out here and in leftovers.test.ts", () =>
  assert.deepEqual(new Set(targets), new Set([...tried, ...leavingClients])));

async function holds(context: TestContext, target: FuzzTarget): Promise<void> {
  tried.add(target);
  const { runs, ms, failure } = await runTarget(target, {
    seed,
    runs: Math.ceil(target.suiteRuns * effort),
    budgetMs,
    watchdog,
  });
  context.diagnostic(`${target.name}: ${runs} inputs in ${Math.round(ms)} ms`);
  if (failure !== undefined) assert.fail(failure);
}
