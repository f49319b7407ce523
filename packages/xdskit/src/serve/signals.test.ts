import assert from "node:assert/strict";
import { test } from "node:test";
import { listenForStop } from "./signals.js";

test("the first signal asks for an orderly end, the second ends the process at once", async (context) => {
  const exit = context.mock.method(process, "exit", (() => {}) as typeof process.exit);
  // Waiting for a signal keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  context.after(() => clearInterval(alive));
  const signals = listenForStop();
  process.kill(process.pid, "SIGTERM");
  assert.equal(await signals.stop, "SIGTERM");
  assert.equal(exit.mock.callCount(), 0);
  process.kill(process.pid, "SIGINT");
  while (exit.mock.callCount() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(exit.mock.calls[0]?.arguments, [130]);
  signals.release();
  assert.equal(process.listenerCount("SIGTERM"), 0);
});
