import assert from "node:assert/strict";
import { test } from "node:test";
import { isCollectionName, isMember, membersOf } from "./collection.js";
import { plainResource, plainType } from "./plain-resource.fixture.js";
import { emptySnapshot, updateSnapshot } from "./snapshot.js";

const type = plainType("endpoint");
const below = "xdstp://authority/envoy.config.endpoint.v3.LbEndpoint/zone";

test("only names of federation are collections", () => {
  assert.deepEqual(
    [`${below}/*`, `${below}/*?a=b`, `${below}/a`, `${below}/**`, "route/*", "*"].map(isCollectionName),
    [true, true, false, false, false, false],
  );
});

test("members are what is below, with the same parameters", () => {
  const names = [`${below}/a`, `${below}/b/c`, `${below}2/a`, `${below}/a?x=y`, "a"];
  assert.deepEqual(
    names.filter((name) => isMember(`${below}/*`, plainResource(type, name, "1"))),
    [`${below}/a`, `${below}/b/c`],
  );
  assert.equal(isMember(`${below}/*?x=y`, plainResource(type, `${below}/a?x=y`, "1")), true);
});

test("a set's members are found, once for all who ask", () => {
  const upsert = [`${below}/a`, `${below}/b`, "c"].map((name) => plainResource(type, name, "1"));
  const set = updateSnapshot(emptySnapshot(), { upsert }).of(type);
  const members = membersOf(set, `${below}/*`);
  assert.deepEqual(members.map(({ name }) => name).sort(), [`${below}/a`, `${below}/b`]);
  assert.equal(membersOf(set, `${below}/*`), members);
  assert.deepEqual(membersOf(set, "xdstp://other/*"), []);
});
