import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RateLimit } from "./rate-limit.js";

describe("RateLimit", () => {
  it("a rate limit lets a burst through, then its number per second", () => {
    const limit = new RateLimit(10, 3);
    assert.deepEqual(
      [0, 0, 0, 0].map((at) => limit.take(at)),
      [true, true, true, false],
    );
    assert.equal(limit.take(99), false);
    assert.equal(limit.take(110), true);
    assert.equal(limit.take(120), false);
  });

  it("a rate limit never saves up more than the burst", () => {
    const limit = new RateLimit(10, 3);
    limit.take(0);
    assert.deepEqual(
      [3_600_000, 3_600_000, 3_600_000, 3_600_000].map((at) => limit.take(at)),
      [true, true, true, false],
    );
  });
});
