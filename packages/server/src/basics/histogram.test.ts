import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Histogram, sizeBounds, timeBounds } from "./histogram.js";

describe("a histogram", () => {
  for (const [what, bounds, values] of [
    ["times", timeBounds, [0, 0.4, 1, 1.5, 2, 499, 499.5, 500, 501, 1_000, 1_001, 2_500, 2_501, 299_999, 300_001, 1e9]],
    ["sizes", sizeBounds, [0, 1, 255, 1_025, 65_536, 65_537, 16_777_215, 16_777_216, 16_777_217, 2 ** 33]],
  ] as const) {
    it(`puts ${what} into the first bucket whose bound is not below them`, () => {
      const around = bounds.flatMap((bound) => [bound - 1, bound, bound + 1]);
      for (const value of [...values, ...around]) {
        const histogram = new Histogram(bounds);
        histogram.record(value);
        const found = bounds.findIndex((bound) => value <= bound);
        assert.equal(histogram.stats().counts.indexOf(1), found < 0 ? bounds.length : found, `${value}`);
      }
    });
  }

  it("counts values and sums them up", () => {
    const histogram = new Histogram(timeBounds);
    for (const value of [1, 3, 4, 1e6]) histogram.record(value);
    const { bounds, counts, sum } = histogram.stats();
    assert.equal(counts.length, bounds.length + 1);
    assert.deepEqual([counts[0], counts[1], counts[2], counts.at(-1)], [1, 0, 2, 1]);
    assert.equal(sum, 1_000_008);
  });
});
