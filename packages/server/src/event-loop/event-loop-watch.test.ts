import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultEventLoopOptions, type EventLoopBlock, type WorkDone } from "./event-loop-stats.js";
import { EventLoopWatch } from "./event-loop-watch.js";
import type { LoopClock, Pause } from "./loop-clock.js";

const nothing: WorkDone = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations: 0 };

/** A loop whose work and idle times come from the test. */
function setUp() {
  const time = { now: 0, idle: 0, cpu: 0 };
  let check = () => {};
  const waits: number[] = [];
  let told: (pause: Pause) => void = () => {};
  const clock: LoopClock = {
    now: () => time.now,
    idle: () => time.idle,
    cpu: () => time.cpu,
    after(milliseconds, callback) {
      waits.push(milliseconds);
      check = callback;
      return () => {};
    },
    pauses(callback) {
      told = callback;
      return () => {};
    },
  };
  let work = nothing;
  const blocks: EventLoopBlock[] = [];
  const watch = new EventLoopWatch(
    defaultEventLoopOptions,
    () => work,
    (block) => blocks.push(block),
    clock,
  );
  return {
    watch,
    blocks,
    waits,
    pause: (start: number, ms: number) => told({ start, ms }),
    /** The loop works, then idles, then the watch looks. */
    turn(busy: number, idle = 0, done: Partial<WorkDone> = {}) {
      time.now += busy + idle;
      time.idle += idle;
      time.cpu += busy / 2;
      work = { ...work, ...done };
      check();
    },
  };
}

test("only time that was not idle counts, and a block has the work that was done in it", () => {
  const { watch, blocks, turn } = setUp();
  turn(2, 500);
  turn(49, 100);
  turn(80, 5, { streamsOpened: 300, requests: 600 });
  turn(3, 7, { streamsOpened: 301 });
  assert.equal(blocks.length, 0);
  turn(1, 9);
  assert.equal(blocks.length, 1);
  assert.deepEqual([blocks[0]?.ms, blocks[0]?.gcMs, blocks[0]?.cpuMs], [80, 0, 40]);
  assert.deepEqual(blocks[0]?.work, { ...nothing, streamsOpened: 300, requests: 600 });
  const { recent, p50Ms, ...stats } = watch.stats();
  assert.equal(stats.longestCpuMs, 40);
  assert.deepEqual(recent, blocks);
  assert.deepEqual([stats.blocks, stats.blockedForMs, stats.longestMs], [{ work: 1, gc: 0 }, 80, 80]);
  assert.ok(p50Ms >= 2 && p50Ms <= 4);
});

test("a nearly idle loop is checked a tenth as often", () => {
  const { turn, waits, watch } = setUp();
  turn(1, 9);
  turn(0.5, 99.5);
  turn(30, 70);
  assert.deepEqual(waits, [10, 100, 100, 10]);
  watch.stir();
  turn(0, 10);
  watch.stir();
  watch.stir();
  assert.deepEqual(waits.slice(4), [100, 10]);
});

test("garbage collection that is reported after the block is named separately", () => {
  const { watch, blocks, turn, pause } = setUp();
  turn(5, 5);
  pause(3, 2);
  turn(90);
  turn(1, 9);
  pause(20, 70);
  turn(1, 9);
  assert.deepEqual(
    blocks.map(({ ms, gcMs }) => [ms, gcMs]),
    [[90, 70]],
  );
  assert.deepEqual(watch.stats().blocks, { work: 0, gc: 1 });
  assert.deepEqual(watch.stats().gc, { pauses: 2, ms: 72, longestMs: 70 });
});

test("the longest block of the last minutes is forgotten in time, and the last few blocks are kept", () => {
  const { watch, blocks, turn } = setUp();
  for (let index = 0; index < 130; index++) turn(60 + index);
  turn(1);
  turn(1);
  assert.equal(blocks.length, 130);
  assert.deepEqual([watch.stats().recent.length, watch.stats().recent.at(-1)?.ms], [100, 189]);
  assert.equal(watch.stats().lastMinuteMs, 189);
  turn(1, 60_000);
  assert.equal(watch.stats().lastMinuteMs, 189);
  turn(1, 60_000);
  turn(1, 60_000);
  assert.equal(watch.stats().lastMinuteMs, 1);
  assert.equal(watch.stats().longestMs, 189);
});

test("a block of the real loop is noticed", async () => {
  const blocks: EventLoopBlock[] = [];
  const watch = new EventLoopWatch(
    defaultEventLoopOptions,
    () => nothing,
    (block) => blocks.push(block),
  );
  const until = performance.now() + 120;
  while (performance.now() < until);
  for (let tries = 0; blocks.length === 0 && tries < 500; tries++) await new Promise((done) => setTimeout(done, 10));
  watch.stop();
  assert.ok((blocks[0]?.ms ?? 0) >= 119, JSON.stringify(blocks));
  assert.ok(watch.stats().longestMs >= 119);
});
