import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertCollected, collect } from "../../testing/collected.js";
import { times } from "../../testing/effort.js";
import { ChainedMap } from "./chained-map.js";

const key = fc.constantFrom("a", "b", "c", "d", "e");
const changes = fc.dictionary(key, fc.option(fc.nat(3), { nil: undefined }), { maxKeys: 4 });

/** The earlier map from which the next is derived (undefined: the last), the way, and whether it is held afterwards. */
const step = fc.record({
  from: fc.option(fc.nat(), { nil: undefined }),
  changes,
  how: fc.constantFrom("derive", "branch"),
  isHeld: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

interface Member {
  readonly map: ChainedMap<number>;
  readonly model: ReadonlyMap<string, number>;
}

function grow(family: Member[], { from, changes, how }: Step): void {
  const base = at(family, from ?? family.length - 1);
  const model = new Map(base.model);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) model.delete(name);
    else model.set(name, value);
  }
  family.push({ map: base.map[how](new Map(Object.entries(changes))), model });
}

function assertFamily(family: readonly Member[]): void {
  for (const { map, model } of family) {
    assert.deepEqual(new Map(map.entries()), model);
    assert.equal(map.size, model.size);
    for (const name of ["a", "b", "c", "d", "e", "f"]) assert.equal(map.get(name), model.get(name));
  }
}

const newFamily = (): Member[] => [{ map: ChainedMap.of(new Map([["a", 0]])), model: new Map([["a", 0]]) }];

test("every map of a family reads like a plain Map, however it was derived", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const family = newFamily();
      for (const step of steps) {
        grow(family, step);
        assertFamily(family);
      }
    }),
    { numRuns: times(100) },
  );
});

test("a map that is still held reads like a plain Map after the others of its family were collected", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 4 }), async (steps, more) => {
      let family = newFamily();
      for (const step of steps) grow(family, step);
      family = family.filter((_, index) => index === 0 || steps[index - 1]?.isHeld);
      await collect();
      assertFamily(family);
      for (const [one, other] of family.flatMap((one) => family.map((other) => [one, other] as const))) {
        const differing = one.map.differencesTo(other.map);
        const names = ["a", "b", "c", "d", "e"].filter((name) => one.model.get(name) !== other.model.get(name));
        if (differing !== undefined) for (const name of names) assert.equal(differing.get(name), one.model.get(name));
      }
      for (const step of more) grow(family, step);
      assertFamily(family);
    }),
    { numRuns: times(20) },
  );
});

test("neither a map that is held for long nor a branch of it keeps the maps in between alive", async () => {
  const start = ChainedMap.of(new Map([["a", { round: -1 }]]));
  const branch = start.branch(new Map([["b", { round: -1 }]]));
  const between: WeakRef<object>[] = [];
  const newest = (() => {
    let map = start;
    for (let round = 0; round < 20; round++) {
      const value = { round };
      map = map.derive(new Map([["a", value]]));
      if (round < 18) between.push(new WeakRef(value));
    }
    return map;
  })();
  await assertCollected(between);
  assert.deepEqual(
    [newest, start, branch].map((map) => map.get("a")?.round),
    [19, -1, -1],
  );
});

test("maps in between that are collected together cost their changes, and not the square of their number", async (t) => {
  const count = 2_000;
  const first = ChainedMap.of(new Map([["a", 0]]));
  (() => {
    let last = first;
    for (let index = 0; index < count; index++) last = last.derive(new Map([[`key-${index}`, index]]));
  })();
  const set = t.mock.method(Map.prototype, "set");
  for (let attempt = 0; attempt < 5; attempt++) await collect();
  const moved = set.mock.callCount();
  set.mock.restore();
  assert.ok(moved > count / 2, "nothing was collected");
  assert.ok(moved < 4 * count, `${moved} entries were moved`);
  assert.deepEqual([...first.entries()], [["a", 0]]);
});

test("the differences of two maps are those of their contents, whichever map is older", () => {
  const line = fc.array(changes, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(line, fc.nat(), fc.nat(), (steps, one, other) => {
      const line = [ChainedMap.of(new Map<string, number>())];
      for (const next of steps) line.push((line.at(-1) as ChainedMap<number>).derive(new Map(Object.entries(next))));
      const [from, to] = [at(line, one), at(line, other)];
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

test("the differences from a map of another lineage are unknown", () => {
  const map = ChainedMap.of(new Map([["a", 1]]));
  const next = map.derive(new Map([["a", 2]]));
  const branch = map.derive(new Map([["a", 3]]));
  assert.equal(next.differencesTo(branch), undefined);
  assert.equal(branch.differencesTo(map), undefined);
  assert.deepEqual([...(next.differencesTo(map) ?? [])], [["a", 2]]);
  assert.deepEqual([...(map.differencesTo(next) ?? [])], [["a", 1]]);
});

test("a branch leaves its lineage unchanged, and its differences from any map of the lineage are known", () => {
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
