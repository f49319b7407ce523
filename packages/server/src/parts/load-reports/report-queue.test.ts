import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReportQueue } from "./report-queue.js";

/** A clock on which each part takes two milliseconds, and turns that the test makes. */
function handDriven() {
  const turns: (() => void)[] = [];
  let now = 0;
  return {
    clock: {
      now: () => {
        now += 2;
        return now;
      },
      later: (callback: () => void) => void turns.push(callback),
    },
    turn: () => turns.shift()?.(),
    get waiting() {
      return turns.length;
    },
  };
}

const limits = { reportClusters: 100_000 };
/** Streams. */
const [one, other] = [{}, {}];
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index);

describe("the queue of load reports", () => {
  it("the queue takes over a short report at once", () => {
    const { clock } = handDriven();
    const taken: number[] = [];
    new ReportQueue<number>(limits, clock).add(one, [1, 2], (part) => taken.push(...part));
    assert.deepEqual(taken, [1, 2]);
  });

  it("the queue takes over a long report in several turns, and later reports in order", () => {
    const hand = handDriven();
    const queue = new ReportQueue<number>(limits, hand.clock);
    const taken: number[] = [];
    const take = (part: readonly number[]) => void taken.push(...part);
    assert.ok(queue.add(one, numbers(2_000), take));
    assert.ok(queue.add(one, numbers(3, 2_000), take));
    assert.deepEqual(taken, []);
    let turns = 0;
    for (; hand.waiting > 0 && turns < 100; turns += 1) {
      const before = taken.length;
      hand.turn();
      assert.ok(taken.length - before <= 1_000, `${taken.length - before} in one turn`);
    }
    assert.ok(turns > 2);
    assert.deepEqual(taken, numbers(2_003));
  });

  it("the queue takes over a short report at once while others send long ones", () => {
    const hand = handDriven();
    const queue = new ReportQueue<number>(limits, hand.clock);
    const taken: number[] = [];
    assert.ok(queue.add(one, numbers(limits.reportClusters), () => {}));
    assert.ok(queue.add({}, numbers(limits.reportClusters), () => {}));
    assert.ok(queue.add(other, [1, 2], (part) => taken.push(...part)));
    assert.deepEqual(taken, [1, 2]);
  });

  it("the queue takes nothing more while too much waits, and forgets waiting reports when it is closed", () => {
    const hand = handDriven();
    const queue = new ReportQueue<number>(limits, hand.clock);
    let taken = 0;
    const take = (part: readonly number[]) => {
      taken += part.length;
    };
    assert.equal(queue.add(one, numbers(limits.reportClusters), take), true);
    assert.equal(queue.add(one, [1], take), false, "half of all is for others");
    assert.equal(queue.add(other, numbers(limits.reportClusters), take), true);
    const third = {};
    assert.equal(queue.add(third, numbers(300), take), false);
    hand.turn();
    assert.equal(queue.add(third, numbers(300), take), true);
    const before = taken;
    queue.close();
    while (hand.waiting > 0) hand.turn();
    assert.equal(taken, before);
  });
});
