import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type CallLimits, type CallTurn, createCallTurns } from "./call-turns.js";

const limits: CallLimits = { underWay: 2, waiting: 8, waitingBytes: 100, unreadBytes: 1_000 };

/** Enters calls and notes which began, in order. */
function playing(of: Partial<CallLimits> = {}) {
  const turns = createCallTurns({ ...limits, ...of });
  const began: string[] = [];
  const enter = (connection: string, name: string, bytes = 1): CallTurn | undefined =>
    turns.enter(connection, bytes, () => began.push(name));
  return { began, enter };
}

describe("turns of unary calls", () => {
  it("let so many begin, and the next one of each connection in turn when one is answered", () => {
    const { began, enter } = playing();
    const calls = ["a1", "a2", "a3", "a4"].map((name) => enter("a", name));
    enter("b", "b1");
    enter("b", "b2");
    assert.deepEqual(began, ["a1", "a2"]);
    for (const call of calls.slice(0, 2)) call?.answered(1);
    assert.deepEqual(began, ["a1", "a2", "a3", "b1"]);
    calls[2]?.answered(1);
    calls[3]?.answered(1);
    assert.deepEqual(began, ["a1", "a2", "a3", "b1", "a4", "b2"]);
  });

  it("refuse a connection with too many waiting, and everybody where too many or too large ones wait", () => {
    const { enter } = playing();
    for (const name of ["a1", "a2", "a3", "a4"]) assert.ok(enter("a", name));
    assert.equal(enter("a", "a5"), undefined);
    for (const other of ["b", "c", "d"]) for (const name of ["1", "2"]) assert.ok(enter(other, other + name));
    assert.equal(enter("e", "e1"), undefined);
    const { enter: enterLarge } = playing();
    for (const name of ["a1", "a2", "a3"]) assert.ok(enterLarge("a", name, 60));
    assert.equal(enterLarge("b", "b1", 60), undefined);
    assert.ok(enterLarge("b", "b2", 40));
  });

  it("begin none for a connection that does not read, nor for anybody where too much is not read", () => {
    const { began, enter } = playing({ underWay: 10 });
    const unread = enter("a", "a1");
    unread?.answered(100);
    enter("a", "a2");
    const others = ["b", "c", "d", "e", "f", "g", "h", "i"].map((name) => {
      const call = enter(name, name);
      call?.answered(100);
      return call;
    });
    // 1,000 bytes are not read by nine; another answer of 100 would be too much.
    assert.deepEqual(began, ["a1", "b", "c", "d", "e", "f", "g", "h", "i"]);
    enter("j", "j1");
    enter("k", "k1");
    assert.deepEqual(began.slice(9), ["j1"]);
    others[0]?.closed();
    unread?.closed();
    assert.deepEqual(began.slice(9), ["j1", "k1", "a2"]);
  });

  it("count a call that is given up until the main thread has answered it, and one that waits no longer", () => {
    const { began, enter } = playing();
    const [first, , waiting] = ["a1", "a2", "a3"].map((name) => enter("a", name));
    enter("b", "b1");
    waiting?.closed();
    first?.closed();
    assert.deepEqual(began, ["a1", "a2"]);
    first?.answered(0);
    assert.deepEqual(began, ["a1", "a2", "b1"]);
  });

  it("let one call begin however large answers are", () => {
    const { began, enter } = playing({ unreadBytes: 10 });
    const first = enter("a", "a1");
    first?.answered(1_000_000);
    enter("b", "b1");
    assert.deepEqual(began, ["a1"]);
    first?.closed();
    assert.deepEqual(began, ["a1", "b1"]);
  });
});
