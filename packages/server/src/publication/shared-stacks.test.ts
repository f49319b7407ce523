import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes, systemClock } from "@xdskit/api";
import { createLayers } from "../configuration/layers.js";
import { clusterResource } from "../testing/test-resources.js";
import { SharedStacks } from "./shared-stacks.js";

const clusters = resourceTypes.find("cluster")!;

describe("SharedStacks", () => {
  it("the 16 stacks that were left last are kept up to date, and no more", () => {
    const layers = createLayers();
    const stacks = new SharedStacks(layers, systemClock, () => true);
    const set = (layer: string, ...names: string[]) => {
      const upsert = names.map((name) => clusterResource(name));
      const changes = layers.apply([{ layer, kind: "replace", upsert }]);
      for (const { stack } of stacks.touchedBy(changes)) stack.update(changes);
    };
    const visit = (tenant: string) => {
      const shared = stacks.acquire(["base", tenant]);
      const snapshot = shared.stack.snapshot();
      stacks.release(shared);
      return snapshot;
    };
    set("base", "a");
    set("t0", "b");
    const first = visit("t0");
    assert.equal(visit("t0"), first);
    set("base", "a", "c");
    const changed = visit("t0");
    assert.deepEqual(Array.from(changed?.of(clusters) ?? [], ({ name }) => name).sort(), ["a", "b", "c"]);
    for (let tenant = 1; tenant < 16; tenant++) visit(`t${tenant}`);
    assert.equal(visit("t0"), changed);
    for (let tenant = 1; tenant <= 16; tenant++) visit(`t${tenant}`);
    assert.equal([...stacks].length, 16);
    assert.notEqual(visit("t0"), changed);
  });

  it("a change during the start leaves what was before it known: clients have it from before a restart", () => {
    const layers = createLayers();
    const stacks = new SharedStacks(layers, systemClock, () => false);
    const shared = stacks.acquire(["base"]);
    const begin = (isLater: boolean, ...names: string[]) => {
      const upsert = names.map((name) => clusterResource(name));
      shared.publishEarly(layers.apply([{ layer: "base", kind: "replace", upsert }]), undefined, isLater);
    };
    const known = () => shared.recent.list().map((one) => Array.from(one.of(clusters), ({ name }) => name).join());
    begin(false, "a");
    begin(false, "b");
    assert.deepEqual(known(), []);
    begin(true, "c");
    begin(true, "d");
    assert.deepEqual(known(), ["c", "b"]);
  });
});
