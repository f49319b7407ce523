import assert from "node:assert/strict";
import { test } from "node:test";
import type { SliceClock } from "../timing/fair-queue.js";
import { createTurnBudget, type PausableSocket } from "./turn-budget.js";

/** An event loop whose turns the test makes: first it reads, then come the callbacks of `later`. */
function setUp(ms: number) {
  let time = 0;
  let callbacks: (() => void)[] = [];
  const clock: SliceClock = {
    now: () => time,
    later: (callback) => void callbacks.push(callback),
  };
  const budget = createTurnBudget(ms, clock);
  const done: string[] = [];
  const paused = new Set<string>();
  const sources = new Map<string, PausableSocket>();
  const sourceOf = (name: string): PausableSocket => {
    const source = sources.get(name) ?? { pause: () => paused.add(name), resume: () => paused.delete(name) };
    sources.set(name, source);
    return source;
  };
  return {
    budget,
    done,
    paused,
    /** Something of `cost` milliseconds is read. */
    read(name: string, isNew: boolean, cost = 1) {
      budget.spend(sourceOf(name), isNew, () => {
        time += cost;
        done.push(name);
      });
    },
    defer(name: string) {
      budget.defer(sourceOf(name), () => {
        time += 1;
        done.push(name);
      });
    },
    /** The end of a turn; returns the work done in it after the reading. */
    turn(): readonly string[] {
      const before = done.length;
      const due = callbacks;
      callbacks = [];
      for (const callback of due) callback();
      return done.slice(before);
    },
  };
}

test("a turn handles only as many of a thousand sources as it has time for, and pauses the others", () => {
  const { read, turn, done, paused, budget } = setUp(10);
  for (let index = 0; index < 1_000; index++) read(`new-${index}`, true);
  assert.equal(done.length, 10);
  assert.equal(paused.size, 990);
  let turns = 0;
  for (; budget.waiting > 0; turns++) assert.ok(turn().length <= 10, "a turn took longer than its budget");
  assert.equal(done.length, 1_000);
  assert.equal(paused.size, 0);
  assert.ok(turns >= 990 / 5);
});

test("a known source is read while a thousand new ones wait, and comes first in the next slice if the turn is used up", () => {
  const { read, turn, done } = setUp(10);
  for (let index = 0; index < 1_000; index++) read(`new-${index}`, true);
  read("known-1", false);
  assert.ok(!done.includes("known-1"));
  // First of the next slice.
  assert.equal(turn()[0], "known-1");
  read("known-2", false);
  assert.equal(done.at(-1), "known-2");
});

test("deferred work is done later in slices, and pauses no source", () => {
  const { budget, turn, done, paused, defer } = setUp(10);
  for (let index = 0; index < 20; index++) defer(`gone-${index}`);
  assert.deepEqual([done.length, paused.size, budget.waiting], [0, 0, 20]);
  assert.equal(turn().length, 5);
  while (budget.waiting > 0) turn();
  assert.equal(done.length, 20);
});

test("the input of one source stays in order", () => {
  const { read, turn, done } = setUp(10);
  read("a", false, 20);
  read("b", false);
  read("b", false);
  assert.deepEqual(done, ["a"]);
  read("c", true);
  turn();
  assert.deepEqual(done, ["a", "b", "b", "c"]);
  read("b", false);
  assert.deepEqual(done.slice(4), ["b"]);
});
