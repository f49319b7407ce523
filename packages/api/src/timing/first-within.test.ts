import assert from "node:assert/strict";
import { connect } from "node:net";
import { it } from "node:test";
import { firstWithin } from "./first-within.js";

/** Keeps the process from everything else. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("what has come when the time is over counts, though nobody had time to read it", async () => {
  // Port 1 is refused at once.
  const refused = new Promise<string>((resolve) => {
    connect(1, "127.0.0.1").on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
  });
  const first = firstWithin(5, [refused]);
  // The attempt begins in another turn.
  await new Promise((resolve) => setImmediate(resolve));
  busy(50);
  assert.equal(await first, "ECONNREFUSED");
});

it("ends without any of them, once the time is over", async () => {
  assert.equal(await firstWithin(5, [new Promise(() => {}), undefined]), undefined);
});
