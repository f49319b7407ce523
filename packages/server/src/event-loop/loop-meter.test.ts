import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventLoopBlock, WorkDone } from "./event-loop-stats.js";
import { type LoopLook, LoopMeter } from "./loop-meter.js";

const nothing: WorkDone = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations: 0 };

/** A loop whose work and idle times come from the test. */
function setUp() {
  let look: LoopLook = { at: 0, idle: 0, cpu: 0, work: nothing };
  const waits: number[] = [];
  const blocks: EventLoopBlock[] = [];
  const meter = new LoopMeter(look, (block) => blocks.push(block));
  return {
    meter,
    blocks,
    waits,
    pause: (startTime: number, duration: number) => meter.paused({ startTime, duration }),
    /** The loop works, then idles, then somebody looks. */
    turn(busy: number, idle = 0, done: Partial<WorkDone> = {}) {
      const work = { ...look.work, ...done };
      look = { at: look.at + busy + idle, idle: look.idle + idle, cpu: look.cpu + busy / 2, work };
      waits.push(meter.look(look));
    },
  };
}

test("only time that was not idle counts, and a block has the work that was done in it", () => {
  const { meter, blocks, turn } = setUp();
  turn(2, 500);
  turn(49, 100);
  turn(80, 5, { streamsOpened: 300, requests: 600 });
  turn(3, 7, { streamsOpened: 301 });
  assert.equal(blocks.length, 0);
  turn(1, 9);
  assert.equal(blocks.length, 1);
  assert.deepEqual([blocks[0]?.ms, blocks[0]?.gcMs, blocks[0]?.cpuMs], [80, 0, 40]);
  assert.deepEqual(blocks[0]?.work, { ...nothing, streamsOpened: 300, requests: 600 });
  const { recent, p50Ms, ...stats } = meter.stats();
  assert.deepEqual(recent, blocks);
  assert.deepEqual([stats.blocks, stats.blockedForMs, stats.longestMs], [{ work: 1, gc: 0 }, 80, 80]);
  assert.ok(p50Ms >= 2 && p50Ms <= 4);
});

test("a nearly idle loop need be looked at a tenth as often", () => {
  const { turn, waits } = setUp();
  turn(1, 9);
  turn(0.5, 99.5);
  turn(30, 70);
  assert.deepEqual(waits, [100, 100, 10]);
});

test("garbage collection that is reported after the block is named separately", () => {
  const { meter, blocks, turn, pause } = setUp();
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
  assert.deepEqual(meter.stats().blocks, { work: 0, gc: 1 });
});

test("the longest block of the last minutes is forgotten in time, and the last few blocks are kept", () => {
  const { meter, blocks, turn } = setUp();
  for (let index = 0; index < 130; index++) turn(60 + index);
  turn(1);
  turn(1);
  assert.equal(blocks.length, 130);
  assert.deepEqual([meter.stats().recent.length, meter.stats().recent.at(-1)?.ms], [100, 189]);
  assert.equal(meter.stats().lastMinuteMs, 189);
  turn(1, 60_000);
  assert.equal(meter.stats().lastMinuteMs, 189);
  turn(1, 60_000);
  turn(1, 60_000);
  assert.equal(meter.stats().lastMinuteMs, 1);
  assert.equal(meter.stats().longestMs, 189);
});
