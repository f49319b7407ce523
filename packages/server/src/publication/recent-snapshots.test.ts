import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { manualClock } from "../testing/basics/manual-clock.js";
import { clusterResource } from "../testing/test-resources.js";
import { RecentSnapshots } from "./recent-snapshots.js";

function line(length: number): readonly Snapshot[] {
  const snapshots: Snapshot[] = [];
  for (let number = 0; number < length; number += 1) {
    snapshots.push(updateSnapshot(snapshots.at(-1) ?? emptySnapshot(), { upsert: [clusterResource(`${number}`)] }));
  }
  return snapshots;
}

describe("the list of recent snapshots", () => {
  it("the list holds a hundred snapshots at most, newest first", () => {
    const recent = new RecentSnapshots(manualClock());
    const all = line(103);
    for (const one of all) recent.add(one, 1);
    assert.deepEqual(recent.list(), all.slice(3).toReversed());
  });

  it("the list holds no more than 2,000 changed resources", () => {
    const recent = new RecentSnapshots(manualClock());
    const [first, second, third] = line(3) as [Snapshot, Snapshot, Snapshot];
    recent.add(first, 1_500);
    recent.add(second, 400);
    assert.deepEqual(recent.list(), [second, first]);
    recent.add(third, 200);
    assert.deepEqual(recent.list(), [third, second]);
    recent.add(first, 2_001);
    assert.deepEqual(recent.list(), []);
  });

  it("the list forgets a snapshot after ten minutes", () => {
    const clock = manualClock();
    const recent = new RecentSnapshots(clock);
    const [first, second] = line(2) as [Snapshot, Snapshot];
    recent.add(first, 1);
    clock.advance(6 * 60_000);
    recent.add(second, 1);
    clock.advance(5 * 60_000);
    assert.deepEqual(recent.list(), [second]);
  });

  it("the list keeps the snapshots whose listeners drain as long as they do, however many changes came since", () => {
    const clock = manualClock();
    const recent = new RecentSnapshots(clock, () => 20 * 60_000);
    const [first, second, ...more] = line(120) as [Snapshot, Snapshot, ...Snapshot[]];
    recent.add(first, 3_000, true);
    recent.add(second, 1_500, true);
    for (const one of more) recent.add(one, 100);
    const kept = more.slice(-20).toReversed();
    assert.deepEqual(recent.list(), [...kept, second, first]);
    clock.advance(10 * 60_000);
    assert.deepEqual(recent.list(), [second, first]);
    clock.advance(10 * 60_000);
    assert.ok(recent.drains);
    clock.advance(60_000);
    assert.deepEqual(recent.list(), []);
    assert.ok(!recent.drains);
  });

  it("the list keeps the newest snapshot whose listeners drain whatever its size, and 50,000 changed resources in all", () => {
    const recent = new RecentSnapshots(manualClock());
    const [first, second, third] = line(3) as [Snapshot, Snapshot, Snapshot];
    recent.add(first, 30_000, true);
    recent.add(second, 20_000, true);
    assert.deepEqual(recent.list(), [second, first]);
    recent.add(third, 60_000, true);
    assert.deepEqual(recent.list(), [third]);
  });
});
