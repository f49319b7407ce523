import assert from "node:assert/strict";
import { test } from "node:test";
import { NameSet } from "../name-set.js";
import { plainResource, plainType } from "../plain-resource.fixture.js";
import type { Content } from "./content.js";
import { namesReferredTo, namesToWarm } from "./warming.js";

const cluster = plainType("cluster");
const endpoint = "type.googleapis.com/test.endpoint";

function content(...references: readonly (readonly string[])[]): Content {
  const resources = references.map((names, index) => ({
    ...plainResource(cluster, `cluster-${index}`, "1"),
    references: [...names.map((name) => ({ type: endpoint, name })), { type: "other", name: "x" }],
  }));
  return { resources, fresh: resources.slice(1), removed: [], unresolved: [] };
}

test("what fresh resources refer to warms, and only what is subscribed to", () => {
  const response = content(["old"], ["a"], ["a", "b"], []);
  assert.equal(namesReferredTo(response, endpoint), NameSet.of(["a", "b"]));
  const names = NameSet.of(["b", "old", "z"]);
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names }), NameSet.of(["b"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names: NameSet.of(["a"]) }), NameSet.of(["a"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: false, names }), NameSet.of(["b"]));
  assert.equal(namesToWarm(response, endpoint, { wildcard: true, names: NameSet.empty }), NameSet.of(["a", "b"]));
  assert.equal(namesToWarm(response, "unheard of", { wildcard: true, names }), NameSet.empty);
});
