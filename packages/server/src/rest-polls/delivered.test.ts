import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { selectionOf } from "@xdskit/protocol";
import { types } from "../testing/running-server.js";
import { createDelivered, type Poller } from "./delivered.js";

const request = { node: undefined, version: "", names: [], typeUrl: "", nonce: "", error: undefined };
const connection = { peer: "here:1", address: "here", open: true };

function poller(names: readonly string[]): Poller {
  const { endpoint: type } = types;
  return { node: "n", connection, api: "v3", type, subscription: selectionOf(names, type) };
}

describe("the memory of answers", () => {
  it("the memory has separate entries for different names, in any order", () => {
    const { note, judge } = createDelivered();
    note(poller(["a", "b"]), request, "1");
    assert.equal(judge(poller(["a"]), { ...request, version: "1" }).kind, "fresh");
    assert.equal(judge(poller(["b", "a"]), { ...request, version: "1" }).kind, "accepted");
  });

  it("the memory never counts a foreign version as rejected", () => {
    const { note, judge } = createDelivered();
    const error = { code: 3, message: "no good" };
    const judged = (nonce: string) => judge(poller(["a"]), { ...request, nonce, error });
    const ours = "0123456789abcdef";
    assert.deepEqual(judged("x".repeat(1_000)), {
      kind: "unaccepted",
      version: undefined,
      again: "after-hold",
      notified: true,
    });
    assert.deepEqual(judged(ours), { kind: "unaccepted", version: ours, again: "never", notified: true });
    note(poller(["a"]), request, ours);
    assert.deepEqual(judged("x"), { kind: "unaccepted", version: ours, again: "never", notified: true });
  });

  it("the memory stays small, whatever clients send, in any length", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const used = async () => {
      // The target of a new WeakRef lives until the end of the turn.
      await nextTurn();
      collect();
      return process.memoryUsage().heapUsed;
    };
    const namesOf = (time: number) =>
      Array.from({ length: 1_000 }, (_, index) => `${"x".repeat(100)} ${time} ${index}`);
    const delivered = createDelivered();
    const before = await used();
    for (let time = 0; time < 100; time++) {
      delivered.note(poller(namesOf(time)), { ...request, version: `${"v".repeat(100_000)}${time}` }, "1");
    }
    const kept = (await used()) - before;
    assert.ok(kept < 5_000_000, `${kept} bytes are kept of 100 answers`);
    assert.equal(delivered.judge(poller(namesOf(0)), { ...request, version: "1" }).kind, "accepted");
  });
});
