import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  type Acknowledged,
  brokenPromises,
  brokenReads,
  brokenWatches,
  type Listed,
  type Read,
} from "./harness/mesh/history-checker.js";

const line: readonly Listed[] = [1, 2, 3].map((number) => ({
  id: `r${number}`,
  number,
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

  const read = (server: string, number: number, began: number, isHealed = false): Read => {
    return { server, number, began, ended: began + 1, isHealed };
  };
  const at = (server: string, number: number, ended: number) => ({ ...write(number, ended - 1, ended), server });

  it("finds nothing in reads that only go forward at each server", () => {
    const reads = [read("a", 1, 0), read("b", 2, 5), read("a", 1, 6), read("a", 2, 20), read("b", 2, 21, true)];
    assert.deepEqual(brokenReads([at("a", 1, -1), at("b", 2, 4), at("a", 2, 18)], reads, 10), []);
    // It overlaps the one before.
    assert.deepEqual(brokenReads([], [read("a", 2, 0), read("a", 1, 1)], 10), []);
  });

  it("finds reads that go back, miss a write of their server, or are old though all is well", () => {
    assert.match(brokenReads([], [read("a", 2, 0), read("a", 1, 5)], 10).join(), /a said 1 after it had said 2/);
    assert.match(brokenReads([at("a", 2, 3)], [read("a", 1, 5)], 10).join(), /a said 1 after 2 was acknowledged at a/);
    const elsewhere = [at("b", 2, 3)];
    assert.deepEqual(brokenReads(elsewhere, [read("a", 1, 5)], 10), []);
    assert.deepEqual(brokenReads(elsewhere, [read("a", 1, 5, true)], 10), []);
    assert.match(
      brokenReads(elsewhere, [read("a", 1, 50, true)], 10).join(),
      /a said 1 after 2 was acknowledged elsewhere/,
    );
  });

  it("finds watchers that go back or stand still", () => {
    assert.deepEqual(brokenWatches([{ watcher: "w", numbers: [4, 5, 6] }]), []);
    assert.equal(brokenWatches([{ watcher: "w", numbers: [4, 6, 5, 5] }]).length, 2);
  });
});
