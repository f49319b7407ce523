import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { LayerStack } from "../configuration/layer-stack.js";
import { createLayers } from "../configuration/layers.js";
import { clusterResource } from "../testing/test-resources.js";

const clusters = resourceTypes.find("cluster");

test("a thousand groups that share a layer of a hundred resources hold each of them once, also after a change", () => {
  assert.ok(clusters);
  const layers = createLayers();
  const common = Array.from({ length: 100 }, (_, index) => clusterResource(`common-${index}`));
  layers.apply([{ kind: "replace", layer: "common", upsert: common }]);
  const stacks = Array.from({ length: 1_000 }, (_, group) => {
    layers.apply([{ kind: "replace", layer: `own-${group}`, upsert: [clusterResource("own", `group ${group}`)] }]);
    return new LayerStack(layers, ["common", `own-${group}`]);
  });
  const held = () => new Set(stacks.flatMap((stack) => [...(stack.snapshot()?.of(clusters) ?? [])]));
  const before = held();
  assert.equal(stacks.at(-1)?.snapshot()?.of(clusters).size, 101);
  assert.equal(before.size, 100 + 1_000);

  const changes = layers.apply([{ kind: "patch", layer: "common", upsert: [clusterResource("common-0", "new")] }]);
  for (const stack of stacks) assert.ok(stack.update(changes));
  const after = held();
  assert.equal(after.size, 100 + 1_000);
  assert.equal([...after].filter((resource) => !before.has(resource)).length, 1);
});
