import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { times } from "../../testing/effort.js";
import { isLocator, locatorOf } from "./locator.js";
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

test("a set that is derived from another leaves that one unchanged", () => {
  const set = NameSet.of(["a", "b"]);
  set.with(["c"]);
  set.without(["a"]);
  assert.deepEqual([...set].sort(), ["a", "b"]);
});

test("all empty sets are one object", () => {
  assert.equal(NameSet.of([]), NameSet.empty);
  assert.equal(NameSet.of(["a"]).without(["a"]), NameSet.empty);
});

test("a set that small changes made of a large one is the same object as the set of all its names", () => {
  const large = Array.from({ length: 400 }, (_, index) => `n${index}`);
  const parameters = new Map([["env", "prod"]]);
  const others = ["xdstp://x/t/d/*", locatorOf("n1", parameters), locatorOf("n399", parameters), "a", "b", "c", "d"];
  const pool = [...large.slice(380), ...others];
  const change = fc.record({
    from: fc.nat(10),
    names: fc.array(fc.constantFrom(...pool), { minLength: 1, maxLength: 4 }),
    isAdded: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const made = [{ set: NameSet.of(large), model: new Set(large) }];
      for (const { from, names, isAdded } of changes) {
        const { set, model } = made[Math.max(0, made.length - 1 - from)] ?? assert.fail();
        const next = new Set(model);
        for (const name of names) isAdded ? next.add(name) : next.delete(name);
        made.push({ set: isAdded ? set.with(names) : set.without(names), model: next });
      }
      const before = made[0] ?? assert.fail();
      for (const { set, model } of made) {
        const flat = NameSet.of(model);
        assert.equal(flat, set);
        assert.deepEqual([...set].sort(), [...model].sort());
        assert.equal(set.size, model.size);
        assert.equal(set.characters, [...model].join("").length);
        assert.equal(set.hasCollections, model.has("xdstp://x/t/d/*"));
        assert.equal(set.hasLocators, [...model].some(isLocator));
        for (const name of ["n1", "n399"]) {
          assert.deepEqual(
            [...set.spelled(name)],
            [name, locatorOf(name, parameters)].filter((one) => model.has(one)),
          );
        }
        const lacking = [...model].filter((name) => !before.model.has(name));
        assert.deepEqual([...set.notIn(before.set)].sort(), lacking.sort());
        for (const name of pool) assert.equal(set.has(name), model.has(name));
      }
    }),
    { numRuns: times(10) },
  );
});
