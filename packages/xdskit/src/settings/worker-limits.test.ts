import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultServerLimits, dividedLimits } from "@xdskit/server";
import { limitsOfWorker } from "./worker-limits.js";

test("workers together allow an identity no more than one process does", () => {
  const shared = Object.keys(defaultServerLimits).filter((name) => /PerIdentity$/.test(name));
  assert.deepEqual([...dividedLimits].sort(), shared.sort());
  for (const limits of [{}, { streamsPerNode: 9, requestBurstPerIdentity: 1 }]) {
    const one = { ...defaultServerLimits, ...limitsOfWorker(limits, 1) };
    const four = { ...defaultServerLimits, ...limitsOfWorker(limits, 4) };
    for (const name of dividedLimits) assert.ok(four[name] === Math.max(1, Math.floor(one[name] / 4)), name);
    assert.deepEqual([four.streams, four.streamsPerNode], [one.streams, one.streamsPerNode]);
  }
});
