import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NameSet } from "./name-set.js";

const names = fc.array(fc.constantFrom("a", "b", "c", "ä", "*", ""), { maxLength: 6 });

test("a set of names behaves like a Set, and equal ones are one object", () => {
  fc.assert(
    fc.property(names, names, (one, two) => {
      const set = NameSet.of(one);
      assert.deepEqual(new Set(set), new Set(one));
      assert.equal(set.size, new Set(one).size);
      assert.equal(NameSet.of([...one].reverse()), set);
      assert.equal(set.with(two), NameSet.of([...one, ...two]));
      assert.equal(set.with(NameSet.of(two)), NameSet.of([...one, ...two]));
      assert.equal(set.without(two), NameSet.of(one.filter((name) => !two.includes(name))));
      assert.equal(set.without(NameSet.of(two)), set.without(two));
      assert.equal(set.key === NameSet.of(two).key, set === NameSet.of(two));
      for (const name of two) assert.equal(set.has(name), one.includes(name));
    }),
  );
});

test("deriving leaves the set alone", () => {
  const set = NameSet.of(["a", "b"]);
  set.with(["c"]);
  set.without(["a"]);
  assert.deepEqual([...set].sort(), ["a", "b"]);
});

test("no names are one object", () => {
  assert.equal(NameSet.of([]), NameSet.empty);
  assert.equal(NameSet.of(["a"]).without(["a"]), NameSet.empty);
});
