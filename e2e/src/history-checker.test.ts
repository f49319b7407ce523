import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Acknowledged, brokenPromises, type Listed } from "./harness/history-checker.js";

const line: readonly Listed[] = [1, 2, 3].map((number) => ({
  ...{ id: `r${number}`, number },
  parent: number === 1 ? null : `r${number - 1}`,
}));

function write(number: number, began: number, ended: number): Acknowledged {
  return { revision: `r${number}`, number, began, ended };
}

describe("the checker of histories", () => {
  it("finds nothing in one line whose writes are in their order", () => {
    assert.deepEqual(brokenPromises([write(1, 0, 5), write(2, 3, 9), write(3, 10, 12)], line), []);
    // Two that overlap may come in either order.
    assert.deepEqual(brokenPromises([write(2, 0, 5), write(1, 3, 9)], line), []);
  });

  it("finds a lost write, a fork, a gap and a write before one that was acknowledged", () => {
    assert.match(brokenPromises([{ ...write(4, 0, 1) }], line).join(), /revision 4 \(r4\) is lost/);
    assert.match(brokenPromises([write(2, 0, 1), write(2, 2, 3)], line).join(), /two writers/);
    assert.match(brokenPromises([write(2, 0, 1), write(1, 2, 3)], line).join(), /1 began after 2 was acknowledged/);
    const fork = line.map((one) => (one.number === 3 ? { ...one, parent: "r1" } : one));
    assert.match(brokenPromises([], fork).join(), /revision 3 \(r3\) does not follow 2/);
    assert.match(
      brokenPromises(
        [],
        line.filter(({ number }) => number !== 2),
      ).join(),
      /3 \(r3\) does not follow 1/,
    );
  });
});
