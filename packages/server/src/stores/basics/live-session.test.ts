import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { LiveSession } from "./live-session.js";

const ttlMs = 300;

describe("a session", () => {
  it("is over for good once its time has passed, although its store answers later that it goes on", async () => {
    const calls: string[] = [];
    // A new leader of etcd gives each lease its whole time again. The answer comes when the time here is over.
    const kept = {
      id: "7",
      now: () => performance.now(),
      renew: () => delay(2 * ttlMs, true),
      end: async () => void calls.push("removed"),
    };
    const lost = new Promise<void>((resolve) => {
      const told = () => {
        calls.push("lost");
        resolve();
      };
      new LiveSession(kept, performance.now(), { ttlMs, lost: told }, () => calls.push("over"));
    });
    await Promise.race([lost, delay(10_000).then(() => assert.fail("nobody hears that it is over"))]);
    assert.deepEqual(calls, ["over", "removed", "lost"]);
  });
});
