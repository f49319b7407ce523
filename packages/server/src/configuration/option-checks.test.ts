import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerOptions } from "../contracts/server-options.js";
import { createServer } from "../create-server.js";

const supply = () => undefined;
const types = ["cluster"];

test("a wrong option is an error that names it, before anything listens", () => {
  const wrong: [unknown, RegExp][] = [
    [{ ttl: "sometimes" }, /^ttl must be "auto", "advertised" or "always", not "sometimes" \[XDSKIT_SERVER_OPTION\]$/],
    [{ resourceErrors: true }, /^resourceErrors must be .*, not true \[XDSKIT_SERVER_OPTION\]$/],
    [{ rest: { holdMs: -1 } }, /^rest\.holdMs must be .*, not -1 \[XDSKIT_SERVER_OPTION\]$/],
    [{ rest: { requestTimeoutMs: 0 } }, /^rest\.requestTimeoutMs must be/],
    [{ onDemand: { types } }, /^onDemand\.supply must be a function, not undefined \[XDSKIT_SERVER_OPTION\]$/],
    [{ onDemand: { types: [], supply } }, /^onDemand\.types must be a list of types/],
    [
      { onDemand: { types, supply, concurrency: 0 } },
      /^onDemand\.concurrency must be a number above 0, not 0 \[XDSKIT_SERVER_OPTION\]$/,
    ],
    [{ onDemand: { types, supply, retryMs: 0 } }, /^onDemand\.retryMs/],
    [{ onDemand: { types, supply, negativeMs: Number.NaN } }, /^onDemand\.negativeMs must be a number from 0 up/],
  ];
  for (const [options, message] of wrong) {
    assert.throws(() => createServer(options as ServerOptions), { code: "XDSKIT_SERVER_OPTION", message });
  }
});

test("an option that may be 0 or infinite is accepted so", async () => {
  const onDemand = {
    types,
    supply,
    lingerMs: 0,
    negativeMs: Number.POSITIVE_INFINITY,
    recheckMs: Number.POSITIVE_INFINITY,
  };
  await createServer({ ttl: "always", rest: { holdMs: 0 }, onDemand }).close();
});
