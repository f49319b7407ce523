import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { beatInterval, intervalOver } from "./beat.js";

const ttl = fc.double({ min: 1, max: 1e12, noNaN: true });

test("two to five heartbeats come before a TTL is over, except for the shortest and the longest TTLs", () => {
  fc.assert(
    fc.property(ttl, (ttl) => {
      const interval = beatInterval(ttl);
      assert.ok(Number.isInteger(Math.log2(interval / 125)), `${interval}`);
      if (ttl >= 375) assert.ok(interval <= ttl / 3, `${interval} for ${ttl}`);
      else assert.equal(interval, 125);
      if (ttl < 3 * 4_096_000) assert.ok(interval * 6 > ttl || interval === 125);
      else assert.equal(interval, 4_096_000);
    }),
  );
});

test("an interval is over once a multiple of it has passed, and all shorter intervals are over with it", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1e8, noNaN: true }),
      fc.double({ min: 0, max: 1e7, noNaN: true }),
      (from, more) => {
        const to = from + more;
        const over = intervalOver(from, to);
        for (let interval = 125; interval <= 4_096_000; interval *= 2) {
          const passed = Math.floor(to / interval) > Math.floor(from / interval);
          assert.equal(passed, interval <= over, `${interval} between ${from} and ${to}: ${over}`);
        }
      },
    ),
  );
  assert.equal(intervalOver(0, 124), 0);
  assert.equal(intervalOver(0, 2000), 2000);
  assert.equal(intervalOver(2000, 2125), 125);
});
