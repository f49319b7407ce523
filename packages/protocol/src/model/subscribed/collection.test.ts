import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalName, globOf, isGlobName, refersTo } from "@xdskit/api";
import fc from "fast-check";
import { plainResource, plainType } from "../../testing/plain-resource.fixture.js";
import { NameSet } from "../names/name-set.js";
import { emptySnapshot, updateSnapshot } from "../snapshots/snapshot.js";
import { membersOf } from "./collection.js";
import { covers } from "./subscription.js";

const type = plainType("endpoint");
const below = "xdstp://authority/envoy.config.endpoint.v3.LbEndpoint/zone";

function setOf(names: readonly string[]) {
  return updateSnapshot(emptySnapshot(), { upsert: names.map((name) => plainResource(type, name, "1")) }).of(type);
}

test("the members of a collection are in one directory and have equal parameters, in any order", () => {
  const set = setOf([`${below}/a`, `${below}/b/c`, `${below}2/a`, `${below}/a?x=y`, `${below}/a?z=1&x=y`, "a"]);
  const names = (collection: string) => membersOf(set, canonicalName(collection)).map(({ name }) => name);
  assert.deepEqual(names(`${below}/*`), [`${below}/a`]);
  assert.deepEqual(names(`${below}/b/*`), [`${below}/b/c`]);
  assert.deepEqual(names(`${below}/*?x=y`), [`${below}/a?x=y`]);
  for (const order of ["x=y&z=1", "z=1&x=y"]) assert.deepEqual(names(`${below}/*?${order}`), [`${below}/a?z=1&x=y`]);
});

test("a name is in a collection if and only if that refers to it", () => {
  const part = fc.constantFrom("a", "b", "", "/", "/*", "?", "x=1", "&", "y=2");
  const name = fc.array(part, { maxLength: 6 }).map((parts) => `xdstp://a/T/${parts.join("")}`);
  fc.assert(
    fc.property(name, name, (glob, member) => {
      fc.pre(isGlobName(glob) && member !== glob);
      const collection = canonicalName(glob);
      const expected = refersTo({ type: type.typeUrl, name: collection }, type.typeUrl, member);
      assert.equal(globOf(member) === collection, expected);
      const resource = plainResource(type, member, "1");
      const covered = covers({ wildcard: false, names: NameSet.of([collection]) }, resource);
      assert.equal(covered, expected || collection === resource.key);
      assert.equal(membersOf(setOf([member]), collection).length, expected ? 1 : 0);
    }),
  );
});

test("the members of a collection are computed once for all callers", () => {
  const set = setOf([`${below}/a`, `${below}/b`, "c"]);
  const members = membersOf(set, `${below}/*`);
  assert.deepEqual(members.map(({ name }) => name).sort(), [`${below}/a`, `${below}/b`]);
  assert.equal(membersOf(set, `${below}/*`), members);
  assert.deepEqual(membersOf(set, "xdstp://other/T/*"), []);
});

test("a query for a new collection does not look at every resource each time", () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `${below}/${index}`);
  const set = setOf(names);
  const asked = NameSet.of(names.map((name) => `${name}/*`));
  const started = performance.now();
  for (const name of asked) assert.equal(membersOf(set, name).length, 0);
  for (const resource of set) assert.equal(covers({ wildcard: false, names: asked }, resource), false);
  // Each with each would be 800 million comparisons, some minutes.
  assert.ok(performance.now() - started < 10_000);
});
