import assert from "node:assert/strict";
import { test } from "node:test";
import { pollWaitMs } from "./poll-wait.js";

test("the safety poll waits 20 times as long as the last look took, at least 2 s and at most 30 s", () => {
  const looks = [0, 100, 101, 1_499, 1_500, 60_000, Number.MAX_VALUE];
  assert.deepEqual(looks.map(pollWaitMs), [2_000, 2_000, 2_020, 29_980, 30_000, 30_000, 30_000]);
});
