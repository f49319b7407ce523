import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "./clock.js";
import { longestTimerMs } from "./longest-timer.js";

test("an alarm beyond the limit of Node's timers is kept, and one that never comes needs no timer", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const heard: string[] = [];
  systemClock.after(5, () => heard.push("soon"));
  systemClock.after(2 * longestTimerMs + 5, () => heard.push("late"));
  const takeBack = systemClock.after(2 * longestTimerMs + 5, () => heard.push("taken back"));
  systemClock.after(Number.POSITIVE_INFINITY, () => heard.push("never"))();
  t.mock.timers.tick(5);
  assert.deepEqual(heard, ["soon"]);
  t.mock.timers.tick(longestTimerMs - 5);
  takeBack();
  t.mock.timers.tick(longestTimerMs);
  t.mock.timers.tick(4);
  assert.deepEqual(heard, ["soon"]);
  t.mock.timers.tick(1);
  assert.deepEqual(heard, ["soon", "late"]);
});
