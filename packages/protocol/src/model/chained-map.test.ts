import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { effort } from "../testing/effort.js";
import { ChainedMap } from "./chained-map.js";

const key = fc.constantFrom("a", "b", "c", "d", "e");
const changes = fc.dictionary(key, fc.option(fc.nat(3), { nil: undefined }), { maxKeys: 4 });

/** From which of the maps so far the next is derived, how, and which one is shortened afterwards. */
const step = fc.record({
  from: fc.nat(),
  changes,
  how: fc.constantFrom("derive", "branch"),
  shorten: fc.option(fc.nat()),
});

test("every map of a family reads like a plain Map, however it was derived and shortened", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const family: { map: ChainedMap<number>; model: Map<string, number> }[] = [
        { map: ChainedMap.of(new Map([["a", 0]])), model: new Map([["a", 0]]) },
      ];
      for (const { from, changes, how, shorten } of steps) {
        const base = at(family, from);
        const model = new Map(base.model);
        for (const [name, value] of Object.entries(changes)) {
          if (value === undefined) model.delete(name);
          else model.set(name, value);
        }
        family.push({ map: base.map[how](new Map(Object.entries(changes))), model });
        if (shorten !== null) at(family, shorten).map.shorten();
        for (const { map, model } of family) {
          assert.deepEqual(new Map(map.entries()), model);
          assert.equal(map.size, model.size);
          for (const name of ["a", "b", "c", "d", "e", "f"]) assert.equal(map.get(name), model.get(name));
        }
      }
    }),
    { numRuns: 100 * effort },
  );
});

test("differences are those between the two contents, whichever is the older", () => {
  const line = fc.array(changes, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(line, fc.nat(), fc.nat(), fc.option(fc.nat()), (steps, one, other, shorten) => {
      const line = [ChainedMap.of(new Map<string, number>())];
      for (const next of steps) line.push((line.at(-1) as ChainedMap<number>).derive(new Map(Object.entries(next))));
      const [from, to] = [at(line, one), at(line, other)];
      // A shortened chain leads past what comes in between.
      if (shorten !== null) at(line, shorten).shorten();
      const differing = from.differencesTo(to);
      assert.ok(differing);
      const rebuilt = new Map(to.entries());
      for (const [name, value] of differing) {
        if (value === undefined) rebuilt.delete(name);
        else rebuilt.set(name, value);
      }
      assert.deepEqual(rebuilt, new Map(from.entries()));
    }),
  );
});

test("a map of another line has no differences that are known", () => {
  const map = ChainedMap.of(new Map([["a", 1]]));
  const next = map.derive(new Map([["a", 2]]));
  const branch = map.derive(new Map([["a", 3]]));
  assert.equal(next.differencesTo(branch), undefined);
  assert.equal(branch.differencesTo(map), undefined);
  assert.deepEqual([...(next.differencesTo(map) ?? [])], [["a", 2]]);
  assert.deepEqual([...(map.differencesTo(next) ?? [])], [["a", 1]]);
});

test("a branch leaves its line as it is, and what differs from any map of it is known", () => {
  const line = fc.array(changes, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(line, fc.nat(), fc.nat(), changes, fc.nat(), (steps, one, other, beside, when) => {
      const line = [ChainedMap.of(new Map<string, number>())];
      let branch: ChainedMap<number> | undefined;
      for (const [index, next] of steps.entries()) {
        if (index === when % steps.length) branch = at(line, one).branch(new Map(Object.entries(beside)));
        line.push((line.at(-1) as ChainedMap<number>).derive(new Map(Object.entries(next))));
      }
      assert.ok(branch);
      for (const [from, to] of [
        [branch, at(line, other)],
        [at(line, other), branch],
      ] as const) {
        const differing = from.differencesTo(to);
        assert.ok(differing);
        const rebuilt = new Map(to.entries());
        for (const [name, value] of differing) {
          if (value === undefined) rebuilt.delete(name);
          else rebuilt.set(name, value);
        }
        assert.deepEqual(rebuilt, new Map(from.entries()));
      }
    }),
  );
});

function at<Element>(list: readonly Element[], index: number): Element {
  return list[index % list.length] as Element;
}
