import assert from "node:assert/strict";
import { test } from "node:test";
import { NameSet } from "../../model/names/name-set.js";
import { emptySnapshot, updateSnapshot } from "../../model/snapshots/snapshot.js";
import { plainResource, plainType } from "../../testing/plain-resource.fixture.js";
import type { Content } from "./content.js";
import { namesToWarm, WarmingNames } from "./warming.js";

const cluster = plainType("cluster");
const endpoint = "type.googleapis.com/test.endpoint";

function content(...references: readonly (readonly string[])[]): Content {
  const resources = references.map((names, index) => ({
    ...plainResource(cluster, `cluster-${index}`, "1"),
    references: [...names.map((name) => ({ type: endpoint, name })), { type: "other", name: "x" }],
  }));
  return { resources, fresh: resources.slice(1), removed: [], unresolved: [] };
}

test("only subscribed names to which a fresh resource refers are warmed", () => {
  const response = content(["old"], ["a"], ["a", "b"], []);
  const names = NameSet.of(["b", "old", "z"]);
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names }), NameSet.of(["b"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names: NameSet.of(["a"]) }), NameSet.of(["a"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names }), NameSet.of(["b"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: true, names: NameSet.empty }), NameSet.of(["a", "b"]));
  assert.equal(namesToWarm(response, "unheard of", { wildcard: true, names }), NameSet.empty);
});

test("the number of warming names stays bounded while resources come and go", () => {
  const warming = new WarmingNames(endpoint);
  let snapshot = emptySnapshot();
  for (let index = 0; index < 3000; index++) {
    const references = [{ type: endpoint, name: index % 3 === 0 ? "again" : `name-${index}` }];
    const upsert = [{ ...plainResource(cluster, `cluster-${index}`, "1"), references }];
    snapshot = updateSnapshot(snapshot, { upsert, remove: [{ type: cluster, name: `cluster-${index - 3}` }] });
    warming.add({ resources: upsert, fresh: upsert, removed: [], unresolved: [] }, snapshot.of(cluster), "names");
    assert.ok(warming.names.size <= 1010);
    for (const { name } of references) assert.ok(warming.names.has(name));
  }
});
