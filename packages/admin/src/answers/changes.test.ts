import assert from "node:assert/strict";
import { test } from "node:test";
import type { Resource } from "@xdskit/api";
import { edsCluster } from "@xdskit/api/builders";
import { createServer } from "@xdskit/server";
import { changesOf, type ResourceChange } from "./changes.js";

test("what a change takes away is of one moment, whatever is published meanwhile", () => {
  const { config, layerSnapshot } = createServer();
  const layer = config.layer("api");
  const clusters = Array.from({ length: 20 }, (_, at) => edsCluster({ name: `c${at}` }));
  layer.set(clusters);
  const found = changesOf(layerSnapshot("api"), { layer: "api", kind: "replace", upsert: [] });
  for (let at = 0; at < 5; at += 1) found.next();
  layer.set([...clusters.slice(10), edsCluster({ name: "later" })]);
  let last = found.next();
  while (last.done !== true) last = found.next();
  const changes = last.value as readonly ResourceChange[];
  assert.deepEqual(
    changes.map(({ before }) => (before as Resource).name),
    Array.from({ length: 20 }, (_, at) => `c${at}`).sort(),
  );
});
