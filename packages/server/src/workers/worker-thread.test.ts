import assert from "node:assert/strict";
import { test } from "node:test";
import { waitFor } from "../testing/wait-for.js";
import type { Answer, WorkerSettings } from "./messages.js";
import { startWorker, type WorkerPatience } from "./worker-thread.js";

/** Answers each question, but after a "close" only once so many milliseconds are over: it is busy for so long. */
const program = `
  const { workerData: { port, replies, replied } } = require("node:worker_threads");
  const signal = new Int32Array(replied);
  const counters = { streams: [], types: [], fetches: [], refused: [], waitsEnded: 0 };
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  port.on("message", ({ messages }) => {
    for (const message of messages) {
      if (message.kind === "close") Atomics.wait(sleep, 0, 0, message.timeoutMs);
      if (message.kind !== "ask") continue;
      replies.postMessage({ kind: message.question.kind, id: message.id, counters, status: [] });
      Atomics.add(signal, 0, 1);
      Atomics.notify(signal, 0);
    }
  });
`;

function setUp(patience: Partial<WorkerPatience>) {
  const late: { readonly answer: Answer; readonly wasBehind: boolean }[] = [];
  const ends: string[] = [];
  const thread = startWorker(
    { worker: 1 } as WorkerSettings,
    {
      received: () => {},
      answered: (answer, wasBehind) => late.push({ answer, wasBehind }),
      ended: (reason) => ends.push(reason),
    },
    { askMs: 30_000, lookMs: 10, looks: 3_000, ...patience },
    program,
  );
  return { thread, late, ends };
}

test("who is too busy to answer is not waited for again until it has answered", async () => {
  const { thread, late } = setUp({ askMs: 20 });
  thread.post({ kind: "close", timeoutMs: 500 });
  assert.equal(thread.ask({ kind: "counters" }), undefined);
  assert.ok(thread.isBehind());
  // Neither waits, nor is it asked.
  for (let tries = 0; tries < 1_000; tries += 1) assert.equal(thread.ask({ kind: "status", streams: [1] }), undefined);
  await waitFor("the late answer", () => late.length > 0);
  assert.deepEqual(
    late.map(({ answer, wasBehind }) => [answer.kind, wasBehind]),
    [["counters", true]],
  );
  assert.ok(!thread.isBehind());
  await waitFor("an answer in time", () => thread.ask({ kind: "status", streams: [] })?.kind === "status");
  await thread.terminate();
});

test("several are asked at once: who was not in time is not waited for after that", async () => {
  const { thread, late } = setUp({});
  thread.prompt();
  await waitFor("what it was asked for", () => late.length === 1);
  assert.deepEqual([late[0]?.answer.kind, late[0]?.wasBehind], ["counters", false]);
  assert.equal(thread.ask({ kind: "counters" }, 0), undefined);
  assert.ok(!thread.isBehind());
  assert.equal(thread.ask({ kind: "counters" })?.kind, "counters");
  await thread.terminate();
});

test("who serves and is silent is ended, and nobody has to ask for that", async () => {
  const { thread, ends, late } = setUp({ looks: 100 });
  thread.watch();
  await waitFor("answers to looks", () => late.length > 2);
  assert.deepEqual(thread.ask({ kind: "counters" })?.kind, "counters");
  assert.deepEqual(ends, []);
  thread.post({ kind: "close", timeoutMs: 600_000 });
  thread.flush();
  await waitFor("its end", () => ends.length > 0);
  assert.match(ends[0] ?? "", /^it did not answer for/);
});

test("who starts may take its time", async () => {
  const { thread, ends } = setUp({ askMs: 1, lookMs: 1, looks: 1 });
  thread.post({ kind: "close", timeoutMs: 200 });
  assert.equal(thread.ask({ kind: "counters" }), undefined);
  await waitFor("its answer", () => !thread.isBehind());
  assert.deepEqual(ends, []);
  await thread.terminate();
});
