import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "@xdskit/api";
import fc from "fast-check";
import { times } from "../../testing/effort.js";
import { plainResource, plainType } from "../../testing/plain-resource.fixture.js";
import { beatInterval } from "../basics/beat.js";
import { type Change, changeBetween } from "../sets/change.js";
import { type ResourceSet, ResourceSets } from "../sets/resource-set.js";
import { emptySnapshot, type Snapshot, shortestBeat, updateSnapshot } from "./snapshot.js";

const type = plainType("thing");
const other = plainType("other");

const name = fc.constantFrom("a", "b", "c", "d", "e");
const resource = fc
  .record({
    name,
    version: fc.constantFrom("1", "2"),
    aliases: fc.subarray(["x", "y"]),
    ttl: fc.constantFrom(undefined, undefined, 1_000, 60_000),
  })
  // A version speaks for the whole content, aliases and TTL too.
  .map(({ name, version, aliases, ttl }) =>
    plainResource(type, name, `${version}${aliases.join("")}${ttl}`, aliases, ttl),
  );
const update = fc.record({
  upsert: fc.array(resource, { maxLength: 4 }),
  remove: fc.array(
    name.map((name) => ({ type, name })),
    { maxLength: 3 },
  ),
});
const history = fc.array(fc.record({ from: fc.nat(), update }), { maxLength: 10 });

interface Stage {
  readonly snapshot: Snapshot;
  readonly model: ReadonlyMap<string, Resource>;
}

/** All snapshots of a history in which each is derived from any of those before. */
function play(steps: readonly { from: number; update: { upsert: Resource[]; remove: { name: string }[] } }[]): Stage[] {
  const stages: Stage[] = [{ snapshot: emptySnapshot(), model: new Map() }];
  for (const { from, update } of steps) {
    const base = stages[from % stages.length] as Stage;
    const model = new Map(base.model);
    for (const { name } of update.remove) model.delete(name);
    for (const resource of update.upsert) model.set(resource.name, resource);
    const remove = update.remove.map(({ name }) => ({ type, name }));
    stages.push({ snapshot: updateSnapshot(base.snapshot, { upsert: update.upsert, remove }), model });
  }
  return stages;
}

test("every snapshot of a history reads like a plain Map, by name and by alias", () => {
  fc.assert(
    fc.property(history, (steps) => {
      for (const { snapshot, model } of play(steps)) {
        const set = snapshot.of(type);
        assert.equal(set.size, model.size);
        assert.deepEqual(versions(set), new Map([...model].map(([name, { version }]) => [name, version])));
        for (const name of "abcdef") assert.equal(set.get(name)?.version, model.get(name)?.version);
        for (const alias of "xyz") {
          const bearers = [...model.values()].filter(({ aliases }) => aliases.includes(alias)).map(({ name }) => name);
          assert.equal(set.byAlias(alias)?.name, bearers.sort()[0]);
        }
        const perishable = [...model.values()].filter(({ ttl }) => ttl !== undefined);
        const found = [...(ResourceSets.perishable(set) ?? [])];
        assert.deepEqual(versionsOf(found), versionsOf(perishable));
        const intervals = perishable.map(({ ttl = 0 }) => beatInterval(ttl));
        assert.equal(shortestBeat(snapshot), intervals.length === 0 ? undefined : Math.min(...intervals));
      }
    }),
    { numRuns: times(100) },
  );
});

test("equal contents have equal versions whatever their history, and other contents have others", () => {
  fc.assert(
    fc.property(history, history, (one, two) => {
      const stages = [...play(one), ...play(two)];
      for (const a of stages) {
        for (const b of stages) {
          const [left, right] = [a.snapshot.of(type), b.snapshot.of(type)];
          const equal = sameMap(versions(left), versions(right));
          assert.equal(left.version === right.version, equal);
        }
      }
    }),
    { numRuns: times(100) },
  );
});

test("the change between any two sets equals a naive comparison", () => {
  fc.assert(
    fc.property(history, history, (one, two) => {
      const sets = [...play(one), ...play(two)].map(({ snapshot }) => snapshot.of(type));
      for (const from of sets)
        for (const to of sets) assert.deepEqual(summary(changeBetween(from, to)), naive(from, to));
    }),
    { numRuns: times(100) },
  );
});

test("a change is one object for all callers, and knows aliases", () => {
  const before = updateSnapshot(emptySnapshot(), {
    upsert: [plainResource(type, "a", "1"), plainResource(type, "b", "1")],
  });
  const after = updateSnapshot(before, {
    upsert: [plainResource(type, "a", "2", ["x"])],
    remove: [{ type, name: "b" }],
  });
  const change = changeBetween(before.of(type), after.of(type));
  assert.equal(changeBetween(before.of(type), after.of(type)), change);
  assert.equal(change.hasAliases, true);
  assert.deepEqual(
    change.upserted.map(({ name, version }) => [name, version]),
    [["a", "2"]],
  );
  assert.deepEqual(
    change.removed.map(({ name, version }) => [name, version]),
    [["b", "1"]],
  );
  assert.equal(changeBetween(after.of(type), after.of(type)).differences.size, 0);
});

test("an unchanged set stays the very same object", () => {
  const one = updateSnapshot(emptySnapshot(), {
    upsert: [plainResource(type, "a", "1"), plainResource(other, "a", "1")],
  });
  assert.equal(updateSnapshot(one, { upsert: [plainResource(type, "a", "1")] }), one);
  assert.equal(updateSnapshot(one, { remove: [{ type, name: "z" }] }), one);
  assert.equal(updateSnapshot(one, {}), one);
  const two = updateSnapshot(one, { upsert: [plainResource(type, "a", "2")] });
  assert.notEqual(two, one);
  assert.equal(two.of(other), one.of(other));
  assert.notEqual(two.of(type), one.of(type));
});

test("an upsert wins over a removal of the same name, and the later of two upserts", () => {
  const snapshot = updateSnapshot(emptySnapshot(), {
    upsert: [plainResource(type, "a", "1"), plainResource(type, "a", "2")],
    remove: [{ type, name: "a" }],
  });
  assert.deepEqual(versions(snapshot.of(type)), new Map([["a", "2"]]));
});

test("all empty sets have one version, which is not empty", () => {
  const filled = updateSnapshot(emptySnapshot(), { upsert: [plainResource(type, "a", "1")] });
  const emptied = updateSnapshot(filled, { remove: [{ type, name: "a" }] });
  assert.equal(emptied.of(type).version, emptySnapshot().of(type).version);
  assert.match(emptied.of(type).version, /^[0-9a-f]{16}$/);
  assert.equal(emptied.sets.has(type.typeUrl), true);
  assert.deepEqual(versions(filled.of(type)), new Map([["a", "1"]]));
});

/** Name → version, whatever the order. */
function versionsOf(resources: readonly Resource[]): ReadonlyMap<string, string> {
  return new Map(resources.map(({ name, version }) => [name, version] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function versions(set: ResourceSet): Map<string, string> {
  return new Map([...set].map(({ name, version }) => [name, version]));
}

function sameMap(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

function summary(change: Change): object {
  return {
    upserted: change.upserted.map(({ name, version }) => `${name}=${version}`).sort(),
    removed: change.removed.map(({ name, version }) => `${name}=${version}`).sort(),
    names: [...change.differences.keys()].sort(),
  };
}

function naive(from: ResourceSet, to: ResourceSet): object {
  const [before, after] = [versions(from), versions(to)];
  const upserted = [...after].filter(([name, version]) => before.get(name) !== version);
  const removed = [...before].filter(([name]) => !after.has(name));
  return {
    upserted: upserted.map(([name, version]) => `${name}=${version}`).sort(),
    removed: removed.map(([name, version]) => `${name}=${version}`).sort(),
    names: [...upserted, ...removed].map(([name]) => name).sort(),
  };
}
