import assert from "node:assert/strict";
import { test } from "node:test";
import { allEventLoops, endedEventLoop } from "./all-event-loops.js";
import type { EventLoopStats } from "./event-loop-stats.js";

function loop(ms: number, worker?: number): EventLoopStats {
  const work = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations: 0 };
  return {
    blockedMs: 50,
    blocks: { work: 1, gc: 2 },
    blockedForMs: ms,
    longestMs: ms,
    longestCpuMs: ms,
    lastMinuteMs: ms,
    p50Ms: ms,
    p99Ms: ms,
    p999Ms: ms,
    gc: { pauses: 3, ms, longestMs: ms },
    recent: [{ worker, at: new Date(ms), ms, gcMs: 0, cpuMs: ms, work }],
  };
}

test("of several event loops counts are summed up, lengths are the worst one's, and blocks come in their order", () => {
  assert.equal(allEventLoops([]), undefined);
  assert.deepEqual(allEventLoops([loop(80)]), loop(80));
  const all = allEventLoops([loop(80), loop(60, 1), loop(100, 2)]);
  assert.deepEqual([all?.blocks, all?.blockedForMs], [{ work: 3, gc: 6 }, 240]);
  assert.deepEqual([all?.longestMs, all?.lastMinuteMs, all?.p99Ms], [100, 100, 100]);
  assert.deepEqual(all?.gc, { pauses: 9, ms: 240, longestMs: 100 });
  assert.deepEqual(
    all?.recent.map(({ worker }) => worker),
    [1, undefined, 2],
  );
});

test("what is of now goes with the thread that ended, and what only grows stays", () => {
  const all = allEventLoops([loop(60), endedEventLoop(loop(100, 1))]);
  assert.deepEqual([all?.longestMs, all?.blockedForMs, all?.blocks.work], [100, 160, 2]);
  assert.deepEqual([all?.lastMinuteMs, all?.p99Ms], [60, 60]);
});
