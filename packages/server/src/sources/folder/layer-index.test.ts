import assert from "node:assert/strict";
import { test } from "node:test";
import { type Resource, readResources } from "@xdskit/api";
import { LayerIndex } from "./layer-index.js";

const count = 200;
const none: ReadonlySet<string> = new Set();

/** A file of which one resource is another in each round. */
function read(round: number) {
  const items = Array.from({ length: count }, (_, index) => ({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name: `c${index}`,
    alt_stat_name: index < round ? "changed" : "new",
    connect_timeout: "1s",
  }));
  return readResources({ path: "a.json", bytes: Buffer.from(JSON.stringify(items)) }).resources;
}

test("what changes one by one in a file keeps the memory of its own bytes, not of each reading", () => {
  const index = new LayerIndex("base");
  const applied = new Map<string, Resource>();
  for (let round = 0; round <= count; round += 1) {
    if (round > 0) index.remove("a.json", read(round - 1));
    index.add("a.json", read(round));
    const change = index.change(round === 0 ? "replace" : "patch", none) ?? assert.fail();
    assert.equal(change.update.upsert.length, round === 0 ? count : 1);
    for (const resource of change.update.upsert) applied.set(resource.name, resource);
    index.commit(change);
  }
  const bodies = [...applied.values()].map(({ body }) => body);
  const buffers = new Set(bodies.map(({ buffer }) => buffer));
  const sum = (lengths: readonly number[]) => lengths.reduce((total, length) => total + length, 0);
  assert.equal(sum([...buffers].map(({ byteLength }) => byteLength)), sum(bodies.map(({ byteLength }) => byteLength)));
});
