import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../identity/caller.js";
import { createGate } from "../identity/caller.js";
import { noEvidence } from "../identity/evidence.js";
import { OpenCalls } from "./open-calls.js";

test("streams end after what opened them has ended, and not all at once", () => {
  let now = 0;
  let spread = 0;
  const gate = createGate({ rules: undefined, refused() {} });
  const calls = new OpenCalls(
    gate,
    () => {
      spread += 100;
      return spread;
    },
    () => now,
  );
  const ended: number[] = [];
  for (let stream = 0; stream < 5; stream++) {
    const key = {};
    const caller = { key: "", endsAt: 1_000 } as Caller;
    const from = { peer: "a", called: "b" };
    const end = () => {
      ended.push(stream);
      calls.closed(key);
    };
    calls.opened(key, { caller, from, evidence: () => noEvidence, end });
  }
  calls.look();
  assert.deepEqual(ended, []);
  now = 1_250;
  calls.look();
  assert.deepEqual(ended, [0, 1]);
  now = 2_000;
  calls.look();
  assert.deepEqual(ended, [0, 1, 2, 3, 4]);
  calls.stop();
});
