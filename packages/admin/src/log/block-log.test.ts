import assert from "node:assert/strict";
import { test } from "node:test";
import { createBlockLog } from "./block-log.js";
import type { Log } from "./log.js";
import type { LogEvent } from "./log-events.js";

const work = { streamsOpened: 3, streamsClosed: 0, requests: 9, responses: 6, configurations: 1 };
const block = (ms: number, gcMs: number, cpuMs: number) => ({ at: new Date(), ms, gcMs, cpuMs, work });

/** The lines of a log, and its clock. */
function blocks(since?: () => Date | undefined) {
  const lines: [level: string, message: string, fields: object][] = [];
  const write = (level: string) => (_: LogEvent, fields: object, message: string) =>
    void lines.push([level, message, fields]);
  const clock = { now: 0 };
  const options = { now: () => clock.now, ...(since && { servesSince: since }) };
  const log = createBlockLog({ warn: write("warn"), debug: write("debug") } as unknown as Log, options);
  return { lines, clock, log, said: () => lines.map(([level, message]) => [level, message]) };
}

test("a long block of our own is a warning with its work and cause, and the next warnings wait for ten seconds", () => {
  const { lines, clock, log } = blocks();
  log(block(800.4, 600, 799));
  clock.now = 9_000;
  log(block(700, 0, 699));
  clock.now = 10_000;
  log(block(600, 1, 100));
  clock.now = 20_000;
  log(block(900, 0, 900));
  const fields = { gcMs: 0, ...work };
  assert.deepEqual(lines, [
    ["warn", "the event loop was blocked, mostly by garbage collection", { ...fields, ms: 800, gcMs: 600, cpuMs: 799 }],
    ["debug", "the event loop was blocked", { ...fields, ms: 700, cpuMs: 699 }],
    [
      "debug",
      "the event loop did not come around: the machine had no CPU for it",
      { ...fields, ms: 600, gcMs: 1, cpuMs: 100 },
    ],
    ["warn", "the event loop was blocked", { ...fields, ms: 900, cpuMs: 900, more: 1 }],
  ]);
});

test("a short block is no warning, as that of the code that a first request loads; many within ten seconds are", () => {
  const { clock, log, said } = blocks();
  const one = ["debug", "the event loop was blocked"];
  for (let count = 0; count < 10; count += 1) {
    log(block(200, 0, 200));
    clock.now += 5_000;
  }
  assert.deepEqual(said(), Array(10).fill(one));
  for (let count = 0; count < 10; count += 1) log(block(200, 0, 200));
  assert.deepEqual(said().slice(10), [...Array(8).fill(one), ["warn", "the event loop was blocked"], one]);
});

test("a block before any client is served is a debug line, and delays no warning", () => {
  let since: Date | undefined;
  const { log, said } = blocks(() => since);
  log(block(3_000, 0, 3_000));
  since = new Date();
  // It began before, and is told afterwards.
  log({ ...block(3_000, 0, 3_000), at: new Date(since.getTime() + 200) });
  log({ ...block(600, 0, 600), at: new Date(since.getTime() + 700) });
  assert.deepEqual(said(), [
    ["debug", "the event loop was blocked before anybody was served"],
    ["debug", "the event loop was blocked before anybody was served"],
    ["warn", "the event loop was blocked"],
  ]);
});
