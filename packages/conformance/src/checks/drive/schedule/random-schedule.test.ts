import assert from "node:assert/strict";
import { test } from "node:test";
import { worldWords } from "../../../driver/driven-content.js";
import { scheduleOf, shrunk, worldsOf } from "./random-schedule.js";

test("a seed says the changes, and in every world each name leads somewhere", () => {
  let moved = 0;
  const seen = new Set<string>();
  for (let seed = 1; seed <= 200; seed++) {
    const steps = scheduleOf(seed, 20);
    assert.deepEqual(scheduleOf(seed, 20), steps);
    seen.add(JSON.stringify(steps));
    const words = worldsOf(steps).map(worldWords);
    moved += words.filter((world, index) => index > 0 && world !== words[index - 1]).length;
    for (const { clusters, endpoints = {}, listeners, routes } of worldsOf(steps)) {
      assert.ok(Object.values(routes).every((cluster) => clusters[cluster] !== undefined));
      assert.ok(Object.values(listeners).every((route) => routes[route] !== undefined));
      assert.ok(Object.keys(endpoints).every((name) => clusters[name] !== undefined));
      assert.ok(Object.keys(listeners).length > 0);
    }
  }
  assert.equal(seen.size, 200);
  assert.ok(moved > 0.9 * 200 * 19, `only ${moved} changes change something`);
});

test("steps that a failure does not need are left out, in bounded time", async () => {
  const steps = scheduleOf(7, 30);
  const [first, last] = [steps[4]!, steps[21]!];
  let played = 0;
  const fails = async (fewer: typeof steps) => {
    played++;
    return fewer.includes(first) && fewer.includes(last);
  };
  assert.deepEqual(await shrunk(steps, fails, () => true), [first, last]);
  assert.ok(played < 100, `${played} schedules were played`);
  played = 0;
  assert.ok((await shrunk(steps, fails, () => played < 3)).includes(first));
  assert.equal(played, 3);
});
