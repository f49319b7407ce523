import assert from "node:assert/strict";
import { it } from "node:test";
import { cluster, resourcesOf, route } from "../testing/relayed.js";
import { createFollowed } from "./followed-references.js";

it("names in resources are asked for as long as a resource has them, also those from before the start", () => {
  const followed = createFollowed(() => true);
  const asked = new Set<string>();
  const set = (name: string, clusterName: string | undefined) => {
    const [resource] = resourcesOf(clusterName === undefined ? cluster(name) : route(name, clusterName));
    assert.ok(resource !== undefined);
    followed.set(resource.type, name, clusterName === undefined ? undefined : resource);
  };
  set("r", "a");
  set("s", "b");
  set("s", "c");
  assert.deepEqual([...asked], []);
  followed.start(({ name }) => {
    asked.add(name);
    return { isAbsent: name === "a", end: () => void asked.delete(name) };
  });
  assert.deepEqual([...asked], ["a", "c"]);
  set("t", "d");
  assert.deepEqual([...asked], ["a", "c", "d"]);
  set("r", "d");
  assert.deepEqual([...asked], ["c", "d"]);
  followed.close();
  assert.deepEqual([...asked], []);
});
