import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedCache } from "./bounded-cache.js";

test("the oldest goes when the weight is too much", () => {
  const cache = new BoundedCache<number>(10);
  cache.set("a", 1, 4);
  cache.set("b", 2, 4);
  cache.set("c", 3, 4);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.get(key)),
    [undefined, 2, 3],
  );
});

test("the newest stays, however heavy, and goes in its turn", () => {
  const cache = new BoundedCache<number>(10);
  cache.set("a", 1, 4);
  cache.set("b", 2, 40);
  assert.deepEqual([cache.get("a"), cache.get("b")], [undefined, 2]);
  cache.set("c", 3, 1);
  assert.deepEqual([cache.get("b"), cache.get("c")], [undefined, 3]);
  cache.set("d", 4, 9);
  assert.deepEqual([cache.get("c"), cache.get("d")], [3, 4]);
});
