import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource } from "@xdskit/api";
import { emptySnapshot, updateSnapshot } from "@xdskit/protocol";
import { manualClock } from "../testing/basics/manual-clock.js";
import { cluster } from "../testing/test-resources.js";
import { createPulse } from "./pulse.js";

function setUp() {
  const clock = manualClock();
  let snapshot = emptySnapshot();
  const pulse = createPulse(clock, () => [snapshot]);
  const beats: number[] = [];
  const listener = { beat: (interval: number) => void beats.push(interval) };
  /** Seconds. */
  const live = (name: string, ttl: number | undefined) => {
    const resource = createResource(cluster(name), { ttl: ttl === undefined ? undefined : ttl * 1000 });
    snapshot = updateSnapshot(snapshot, { upsert: [resource] });
    pulse.update();
  };
  return { clock, pulse, beats, listener, live };
}

describe("createPulse", () => {
  it("a pulse beats at most every third of the shortest TTL, and says which longer intervals are over", () => {
    const { clock, pulse, beats, listener, live } = setUp();
    pulse.join(listener);
    live("a", 3);
    live("b", 3600);
    for (let seconds = 1; seconds <= 8; seconds++) clock.advance(1000);
    assert.deepEqual(beats, [1000, 2000, 1000, 4000, 1000, 2000, 1000, 8000]);
  });

  it("a pulse has no timer if nothing has a TTL, or if nobody listens", () => {
    const { clock, pulse, beats, listener, live } = setUp();
    assert.equal(clock.waiting, 0);
    live("a", 10);
    assert.equal(clock.waiting, 0);
    const leave = [pulse.join(listener), pulse.join({ beat: () => {} })];
    assert.equal(clock.waiting, 1);
    live("a", undefined);
    assert.equal(clock.waiting, 0);
    live("a", 10);
    live("b", 1);
    assert.equal(clock.waiting, 1);
    for (const each of leave) each();
    assert.equal(clock.waiting, 0);
    clock.advance(100_000);
    assert.deepEqual(beats, []);
  });

  it("changes do not put off a pulse, however often they come", () => {
    const { clock, pulse, beats, listener, live } = setUp();
    pulse.join(listener);
    live("a", 10);
    for (let round = 0; round < 100; round++) {
      live("b", round % 2 === 0 ? 1 : 1000);
      clock.advance(100);
    }
    // Every 2 s for the one with 10 s, whatever the other needs.
    assert.equal(beats.filter((interval) => interval >= 2000).length, 5);
  });

  it("a pulse that comes late reports once which intervals are over", () => {
    const { clock, pulse, beats, listener, live } = setUp();
    pulse.join(listener);
    live("a", 1);
    clock.skip(10_000);
    assert.deepEqual(beats, [8000]);
    clock.advance(250);
    assert.deepEqual(beats, [8000, 250]);
  });

  it("a pulse needs few beats for many TTLs, and none longer than timers can wait", () => {
    const { clock, pulse, beats, listener, live } = setUp();
    pulse.join(listener);
    live("a", 315_576_000_000);
    assert.equal(clock.waiting, 1);
    clock.advance(4_096_000);
    assert.deepEqual(beats, [4_096_000]);
    live("b", 0.001);
    clock.advance(250);
    assert.deepEqual(beats.slice(1), [125, 250]);
  });
});
