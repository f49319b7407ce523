import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedCache } from "./memo.js";

test("the oldest entries are dropped when the weight is above the limit", () => {
  const cache = new BoundedCache<number>(10);
  for (let key = 1; key <= 20; key++) cache.set(String(key), key, 1);
  const kept = Array.from({ length: 20 }, (_, index) => cache.get(String(index + 1)) !== undefined);
  assert.deepEqual(kept, [...Array(10).fill(false), ...Array(10).fill(true)]);
});

test("the last eight entries stay however heavy they are, until newer ones follow", () => {
  const cache = new BoundedCache<number>(10);
  for (let key = 1; key <= 8; key++) cache.set(String(key), key, 1_000);
  assert.deepEqual([cache.get("1"), cache.get("8")], [1, 8]);
  cache.set("9", 9, 1_000);
  assert.deepEqual([cache.get("1"), cache.get("2"), cache.get("9")], [undefined, 2, 9]);
  for (let key = 10; key <= 20; key++) cache.set(String(key), key, 0);
  assert.deepEqual([cache.get("9"), cache.get("13"), cache.get("20")], [undefined, 13, 20]);
});
