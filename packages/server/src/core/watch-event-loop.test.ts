import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EventLoopBlock, WorkDone } from "../event-loop/event-loop-stats.js";
import { type EventLoopWatch, watchEventLoop } from "./watch-event-loop.js";

const nothing: WorkDone = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations: 0 };

/** Watches the loop of this process. */
async function withWatch(
  run: (watch: EventLoopWatch, seen: { looks: number; readonly blocks: EventLoopBlock[] }) => Promise<void>,
): Promise<void> {
  const seen = { looks: 0, blocks: [] as EventLoopBlock[] };
  const work = () => {
    seen.looks += 1;
    return nothing;
  };
  const emit = (_kind: string, event: () => unknown) =>
    void seen.blocks.push((event() as { readonly block: EventLoopBlock }).block);
  const watch = watchEventLoop({ work }, { emit });
  try {
    await run(watch, seen);
  } finally {
    watch.stop();
  }
}

test("a block of the loop is noticed", () =>
  withWatch(async (watch, { blocks }) => {
    const until = performance.now() + 120;
    while (performance.now() < until);
    for (let tries = 0; blocks.length === 0 && tries < 500; tries++) await delay(10);
    assert.ok((blocks[0]?.ms ?? 0) >= 119, JSON.stringify(blocks));
    assert.ok(watch.stats().longestMs >= 119);
    assert.deepEqual(watch.stats().recent, blocks);
  }));

test("an idle loop is looked at less often, until there is work", () =>
  withWatch(async (watch, seen) => {
    await delay(1_000);
    assert.ok(seen.looks < 60, `${seen.looks} looks at an idle loop in a second`);
    const before = seen.looks;
    for (let turn = 0; turn < 30; turn++) {
      watch.stir();
      await delay(15);
    }
    assert.ok(seen.looks - before >= 15, `${seen.looks - before} looks while there was work in 30 turns`);
  }));
