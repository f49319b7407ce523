import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterResource } from "../testing/test-resources.js";
import { createPacking, type PackedResource } from "./packed-resources.js";

const bytesHeld = (packed: readonly PackedResource[]) =>
  [...new Set(packed.map(({ body }) => body.buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
const bytesOf = (packed: readonly PackedResource[]) => packed.reduce((sum, { body }) => sum + body.byteLength, 0);

test("bodies are shared, unchanged, and each is copied once", () => {
  const { pack, packAll } = createPacking();
  const resources = ["a", "b", "c"].map((name) => clusterResource(name));
  const packed = packAll(resources);
  assert.ok(packed.every(({ body }) => body.buffer instanceof SharedArrayBuffer));
  assert.deepEqual(
    packed.map(({ body }) => [...body]),
    resources.map(({ body }) => [...body]),
  );
  assert.deepEqual(packAll(resources), packed);
  for (const [index, resource] of resources.entries()) assert.equal(pack(resource), packed[index]);
});

test("what changes together lies together, and nothing keeps memory of other changes", () => {
  const { packAll } = createPacking();
  const many = packAll(Array.from({ length: 5_000 }, (_, index) => clusterResource(`c-${index}`, "content")));
  assert.ok(bytesHeld(many) < bytesOf(many) * 1.1);
  assert.ok(new Set(many.map(({ body }) => body.buffer)).size < 100);
  // A rare change among frequent ones: what stays of each holds its own bytes.
  const kept: PackedResource[] = [];
  for (let round = 0; round < 50; round += 1) {
    for (let often = 0; often < 20; often += 1) packAll([clusterResource("often", `${round} ${often}`)]);
    kept.push(...packAll([clusterResource(`rare-${round}`)]));
  }
  assert.equal(bytesHeld(kept), bytesOf(kept));
});
