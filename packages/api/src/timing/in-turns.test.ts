import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atOnce, inTurns, oneByOne, type Steps } from "./in-turns.js";

function* summed(numbers: readonly number[], each: () => void = () => {}): Steps<number> {
  let sum = 0;
  yield* oneByOne(numbers, (number) => {
    sum += number;
    each();
  });
  return sum;
}

describe("work in steps", () => {
  const numbers = Array.from({ length: 1_000 }, (_, index) => index);

  it("gives the same at once and in turns", async () => {
    assert.equal(atOnce(summed(numbers)), 499_500);
    assert.equal(await inTurns(summed(numbers)), 499_500);
    assert.equal(atOnce(summed([])), 0);
  });

  for (const [count, ms] of [
    [1_000, 0.1],
    // What one item costs the first time may be a hundred times as much as later.
    [20, 5],
  ] as const)
    it(`gives others a turn while it goes on, with ${count} items of ${ms} ms`, async () => {
      let others = 0;
      let isDone = false;
      const other = () => {
        others += 1;
        if (!isDone) setImmediate(other);
      };
      setImmediate(other);
      await inTurns(
        summed(numbers.slice(0, count), () => {
          for (const began = performance.now(); performance.now() - began < ms; );
        }),
      );
      isDone = true;
      // It takes 100 ms, in slices of 5 ms.
      assert.ok(others >= 5, `${others} turns`);
    });

  it("rejects with what a step throws", async () => {
    const failing = summed(numbers, () => {
      throw new Error("no");
    });
    await assert.rejects(inTurns(failing), /^Error: no$/);
  });
});
