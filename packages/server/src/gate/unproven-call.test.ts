import assert from "node:assert/strict";
import { test } from "node:test";
import { statusCode } from "@xdskit/protocol";
import { createGate } from "../identity/caller.js";
import { noEvidence } from "../identity/evidence.js";
import { defaultServerLimits } from "../settings/limits.js";
import { gated } from "./gated.js";
import { Shares } from "./shares.js";
import { UnprovenCall } from "./unproven-call.js";

test("a fault in taking over a call is told, and ends only that call", () => {
  const ends: unknown[] = [];
  const faults: unknown[] = [];
  const call = { peer: "a:1", send: () => true, end: (...how: unknown[]) => void ends.push(how) };
  const unproven = new UnprovenCall(
    call,
    () => {},
    (error) => faults.push(error),
  );
  const fault = new Error("no room");
  unproven.decided(() => {
    throw fault;
  });
  assert.deepEqual(faults, [fault]);
  assert.deepEqual(ends, [[statusCode.internal, "the server failed to take over the call"]]);
});

test("a caller that is refused only after its token was looked at is counted like one that is refused at once", async () => {
  const jwks = "/nowhere/keys.json";
  const gate = createGate({
    rules: [{ when: { jwt: { issuer: "i", audience: "a", jwks } }, node: {} }],
    refused() {},
  });
  const from = { peer: "a:1", called: "service" };
  for (const authorization of [undefined, "Bearer e30.e30.e30"]) {
    const refusals: number[] = [];
    const ends: unknown[] = [];
    const call = { peer: "a:1", send: () => true, end: (...how: unknown[]) => void ends.push(how) };
    const evidence = () => ({ ...noEvidence, authorization, address: "10.0.0.1" });
    const shares = new Shares(defaultServerLimits, () => assert.fail("nobody has a share"));
    const accepted = gated(
      { ...call, evidence },
      {
        gate,
        shares,
        from,
        accept: () => assert.fail("it is not known"),
        refuse(refusal) {
          refusals.push(refusal.code);
          return refusal;
        },
        waiting: () => new UnprovenCall(call, () => {}, assert.ifError),
      },
    );
    if (!("code" in accepted))
      for (let turn = 0; turn < 200 && ends.length === 0; turn++)
        await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(refusals, [statusCode.permissionDenied]);
  }
});
