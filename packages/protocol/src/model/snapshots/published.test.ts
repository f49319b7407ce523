import assert from "node:assert/strict";
import { test } from "node:test";
import { branchSnapshot, emptySnapshot, notePublished, type Snapshot, updateSnapshot } from "../../index.js";
import { collect } from "../../testing/collected.js";
import { sampleResource } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { lackedSince } from "./published.js";

test("clients that keep a set for longer than others lack something from the time at which it was replaced for them", () => {
  const type = typeOf("endpoint");
  const next = (last: Snapshot, name: string) =>
    branchSnapshot(last, { upsert: [sampleResource("endpoint", name, "1")], remove: [] });
  const old = next(emptySnapshot(), "a");
  const first = next(old, "b");
  const [second, third] = [next(first, "c"), next(first, "d")];
  const [part, later] = [next(first, "e"), next(first, "f")];
  notePublished(old, first, 1);
  notePublished(first, second, 2);
  notePublished(second, third, 3);
  notePublished(first, part, 3);
  // Another part has the same.
  notePublished(first, part, 3);
  notePublished(part, later, 4);
  const since = (sent: Snapshot, wanted: Snapshot) => lackedSince(sent.of(type), wanted.of(type));
  assert.deepEqual([since(first, second), since(first, third), since(second, third)], [2, 2, 3]);
  assert.deepEqual([since(first, part), since(first, later), since(part, later)], [3, 3, 4]);
  assert.deepEqual([since(old, third), since(old, part), since(old, later)], [1, 1, 1]);
});

test("a set that is held for long does not keep the times of all changes since", async () => {
  const contents = ["1", "2"].map((text) => ({ upsert: [sampleResource("endpoint", "a", text)] }));
  const [one = assert.fail(), other = assert.fail()] = contents;
  const first = updateSnapshot(emptySnapshot(), one);
  const change = async (last: typeof first, count: number) => {
    let newest = last;
    for (let index = 0; index < count; index++) {
      const next = updateSnapshot(newest, newest.of(typeOf("endpoint")).get("a") === one.upsert[0] ? other : one);
      notePublished(newest, next, index + 0.5);
      newest = next;
      if (index % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return newest;
  };
  const held = async () => {
    for (let times = 0; times < 3; times++) await collect();
    return process.memoryUsage().heapUsed;
  };
  let newest = await change(first, 1_000);
  const before = await held();
  const count = 50_000;
  newest = await change(newest, count);
  const each = ((await held()) - before) / count;
  assert.ok(each < 20, `each change keeps ${each} bytes`);
  assert.equal(lackedSince(first.of(typeOf("endpoint")), newest.of(typeOf("endpoint"))), 0.5);
});
