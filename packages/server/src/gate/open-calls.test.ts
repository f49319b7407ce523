import assert from "node:assert/strict";
import { test } from "node:test";
import { statusCode } from "@xdskit/protocol";
import { createGate } from "../identity/caller.js";
import { noEvidence } from "../identity/evidence.js";
import type { IdentityRule } from "../identity/identity-rule.js";
import { temporaryFolder } from "../testing/basics/temporary-folder.js";
import { tenants } from "../testing/identity/tenants.js";
import { OpenCalls } from "./open-calls.js";

const from = { peer: "a", called: "b" };
const rule = (maxAgeMs?: number): IdentityRule => ({ when: { network: "10.0.0.0/8" }, node: {}, maxAgeMs });

/** Open calls of one caller; `passes` gives the status of each that ends until then. */
async function opened(count: number, rules: readonly IdentityRule[], authorization?: string) {
  let now = Date.now();
  const gate = createGate({ rules, refused() {} });
  const calls = new OpenCalls(gate, Math.random, () => now);
  const evidence = () => ({ ...noEvidence, address: "10.0.0.1", authorization });
  const caller = (await gate.callerOf(evidence, from)) ?? assert.fail("no rule knows it");
  let ended: number[] = [];
  for (let at = 0; at < count; at++) {
    const key = {
      end(code: number) {
        ended.push(code);
        calls.closed(key);
      },
    };
    calls.opened(key, { caller, evidence });
  }
  return {
    gate,
    calls,
    caller,
    begin: now,
    passes(ms: number): readonly number[] {
      ended = [];
      now += ms;
      calls.look();
      return ended;
    },
  };
}

test("5,000 streams whose token ends do not end in one second, and all end within a minute", async (t) => {
  const folder = await temporaryFolder(t);
  const { a, jwks } = await tenants();
  await folder.write("keys.json", JSON.stringify(jwks));
  const jwt = { issuer: "https://issuer", audience: "xdskit", jwks: folder.at("keys.json") };
  const { passes, calls, caller, begin } = await opened(5_000, [{ when: { jwt }, node: {} }], `Bearer ${a.good}`);
  assert.deepEqual(passes((caller.endsAt ?? 0) - begin - 1), []);
  const seconds = Array.from({ length: 61 }, () => passes(1_000));
  assert.equal(
    seconds.reduce((sum, { length }) => sum + length, 0),
    5_000,
  );
  assert.ok(seconds.flat().every((code) => code === statusCode.permissionDenied));
  // 83 on average, and 9 is the standard deviation.
  const most = Math.max(...seconds.map(({ length }) => length));
  assert.ok(most < 83 + 8 * 9, `${most} in one second`);
  calls.stop();
});

test("streams end at the greatest age of their rule, or up to a tenth sooner, each at a time of its own", async () => {
  const { passes, calls } = await opened(5_000, [rule(600_000)]);
  assert.deepEqual(passes(539_999), []);
  const seconds = Array.from({ length: 61 }, () => passes(1_000));
  assert.equal(
    seconds.reduce((sum, { length }) => sum + length, 0),
    5_000,
  );
  assert.ok(seconds.flat().every((code) => code === statusCode.unavailable));
  assert.ok(Math.max(...seconds.map(({ length }) => length)) < 83 + 8 * 9);
  calls.stop();
});

test("an age that a rule gets later holds for open streams", async () => {
  const { gate, calls, passes } = await opened(10, [rule()]);
  assert.deepEqual(passes(3_600_000), []);
  gate.use([rule(7_200_000)]);
  calls.recheck();
  assert.deepEqual(passes(2_800_000), []);
  assert.equal(passes(800_000).length, 10);
  calls.stop();
});
