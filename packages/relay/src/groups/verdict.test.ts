import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigArrivalRejection } from "@xdskit/server";
import { verdictOf } from "./verdict.js";

const rejection = (node: string, message: string): ConfigArrivalRejection => ({
  node,
  group: "all",
  message,
  type: "cluster",
  typeUrl: "",
  version: "",
  code: 3,
  blamed: undefined,
  resources: 1,
  at: new Date(0),
});
const outcome = (acknowledged: number, ...rejections: readonly ConfigArrivalRejection[]) => ({
  acknowledged,
  rejected: rejections.length,
  rejections,
});

test("clients that accept, or do not answer, reject nothing", () => {
  for (const policy of ["all", "any"] as const) {
    assert.equal(verdictOf(outcome(3), policy), undefined);
    assert.equal(verdictOf(outcome(0), policy), undefined);
  }
});

test("all: every client that answered must have rejected; any: one is enough", () => {
  const mixed = outcome(1, rejection("edge-1", "no such filter"));
  assert.equal(verdictOf(mixed, "all"), undefined);
  assert.equal(verdictOf(mixed, "any"), "rejected by 1 of 2 clients: edge-1: no such filter");
  const whole = outcome(0, rejection("edge-1", "a"), rejection("edge-2", "a"), rejection("edge-3", "b"));
  assert.equal(verdictOf(whole, "all"), "rejected by 3 of 3 clients: edge-1: a; edge-3: b");
});

test("reasons are bounded, and hold no secret", () => {
  const long = Array.from({ length: 100 }, (_, index) => rejection(`n${index}`, `${index} ${"x".repeat(10_000)}`));
  const text = verdictOf(outcome(0, ...long), "all") ?? "";
  assert.ok(text.length <= 2_000, `${text.length} characters`);
  const key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
  const secret = verdictOf(outcome(0, rejection("n", `bad key ${key} in it`)), "any") ?? "";
  assert.doesNotMatch(secret, /AAAA/);
  assert.match(secret, /bad key/);
});
