import assert from "node:assert/strict";
import { test } from "node:test";
import { plainResource, plainType } from "../../testing/plain-resource.fixture.js";
import { emptySnapshot, updateSnapshot } from "../snapshots/snapshot.js";
import { ResourceSets } from "./resource-set.js";
import { sharedBranch } from "./shared-branch.js";

const type = plainType("thing");
const [a, b, c] = ["a", "b", "c"].map((name) => plainResource(type, name, "1"));

test("equal changes of a set give one branch whatever their order, and different changes give different branches", () => {
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const set = updateSnapshot(emptySnapshot(), { upsert: [a] }).of(type);
  const both = sharedBranch(
    set,
    new Map([
      [b.key, b],
      [c.key, c],
    ]),
  );
  const again = sharedBranch(
    set,
    new Map([
      [c.key, plainResource(type, "c", "1")],
      [b.key, b],
    ]),
  );
  assert.equal(again, both);
  assert.deepEqual([...both].map(({ name }) => name).sort(), ["a", "b", "c"]);
  for (const changes of [
    new Map([[b.key, b]]),
    new Map([
      [b.key, plainResource(type, "b", "2")],
      [c.key, c],
    ]),
  ]) {
    assert.notEqual(sharedBranch(set, changes), both);
  }
  const without = sharedBranch(set, new Map([[a.key, undefined]]));
  assert.equal(ResourceSets.get(without, a.key), undefined);
  assert.equal(sharedBranch(set, new Map([[a.key, undefined]])), without);
});

test("the same map of changes gives its branch again, even after a thousand other branches were made", () => {
  assert.ok(a !== undefined && b !== undefined);
  const set = updateSnapshot(emptySnapshot(), { upsert: [a] }).of(type);
  const changes = new Map([[b.key, b]]);
  const branch = sharedBranch(set, changes);
  for (let version = 2; version < 1_100; version++) {
    sharedBranch(set, new Map([[b.key, plainResource(type, "b", `${version}`)]]));
  }
  assert.equal(sharedBranch(set, changes), branch);
  const other = updateSnapshot(emptySnapshot(), { upsert: [a] }).of(type);
  assert.notEqual(sharedBranch(other, changes), branch);
});
