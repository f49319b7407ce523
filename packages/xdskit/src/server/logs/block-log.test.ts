import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "../../output/log.js";
import { createBlockLog } from "./block-log.js";

const work = { streamsOpened: 3, streamsClosed: 0, requests: 9, responses: 6, configurations: 1 };
const block = (ms: number, gcMs: number, cpuMs: number) => ({ at: new Date(), ms, gcMs, cpuMs, work });

test("a block of our own is a warning with its work and cause, and the next warnings wait for ten seconds", () => {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => void lines.push([level, message, fields]);
  let time = 0;
  const logBlock = createBlockLog({ warn: write("warn"), debug: write("debug") } as unknown as Log, {
    now: () => time,
  });
  logBlock(block(80.4, 60, 79));
  time = 9_000;
  logBlock(block(70, 0, 69));
  time = 10_000;
  logBlock(block(60, 1, 10));
  time = 20_000;
  logBlock(block(90, 0, 90));
  const fields = { gcMs: 0, ...work };
  assert.deepEqual(lines, [
    ["warn", "the event loop was blocked, mostly by garbage collection", { ...fields, ms: 80, gcMs: 60, cpuMs: 79 }],
    ["debug", "the event loop was blocked", { ...fields, ms: 70, cpuMs: 69 }],
    [
      "debug",
      "the event loop did not come around: the machine had no CPU for it",
      { ...fields, ms: 60, gcMs: 1, cpuMs: 10 },
    ],
    ["warn", "the event loop was blocked", { ...fields, ms: 90, cpuMs: 90, more: 1 }],
  ]);
});

test("a block before any client is served is a debug line, and delays no warning", () => {
  const lines: unknown[] = [];
  const write = (level: string) => (_: object, message: string) => void lines.push([level, message]);
  let since: Date | undefined;
  const log = { warn: write("warn"), debug: write("debug") } as unknown as Log;
  const logBlock = createBlockLog(log, { now: () => 0, servesSince: () => since });
  logBlock(block(300, 0, 300));
  since = new Date();
  // It began before, and is told afterwards.
  logBlock({ ...block(300, 0, 300), at: new Date(since.getTime() + 200) });
  logBlock({ ...block(60, 0, 60), at: new Date(since.getTime() + 200) });
  assert.deepEqual(lines, [
    ["debug", "the event loop was blocked before anybody was served"],
    ["debug", "the event loop was blocked before anybody was served"],
    ["warn", "the event loop was blocked"],
  ]);
});
