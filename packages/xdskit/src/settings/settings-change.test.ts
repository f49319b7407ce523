import assert from "node:assert/strict";
import { test } from "node:test";
import type { Settings } from "./schema.js";
import { settingsChange } from "./settings-change.js";

const inUse: Settings = { references: "warn", limits: { streams: 5, request_bytes: 7 }, workers: 1 };

test("equal settings are no change, and neither are missing limits", () => {
  const { live, restart } = settingsChange(inUse, structuredClone(inUse));
  assert.deepEqual([live, restart], [[], []]);
});

test("limits change while the server runs, except those of connections", () => {
  const edited: Settings = { ...inUse, limits: { streams: 6, request_bytes: 8, node_bytes: 1 } };
  const { live, restart, next } = settingsChange(inUse, edited);
  assert.deepEqual([live, restart], [["limits"], ["limits.request_bytes"]]);
  assert.deepEqual(next.limits, { streams: 6, request_bytes: 7, node_bytes: 1 });
  const only = settingsChange(inUse, { ...inUse, limits: { streams: 5 } });
  assert.deepEqual([only.live, only.restart], [[], ["limits.request_bytes"]]);
});

test("keys that need a restart keep their values in use", () => {
  const edited: Settings = { workers: 4, ttl: "always", ordering: "off" };
  const { live, restart, next } = settingsChange(inUse, edited);
  assert.deepEqual(
    [live.toSorted(), restart.toSorted()],
    [
      ["limits", "ordering", "references"],
      ["limits.request_bytes", "ttl", "workers"],
    ],
  );
  assert.deepEqual([next.workers, next.ttl, next.ordering], [1, undefined, "off"]);
  const some = settingsChange(inUse, edited, new Set(["references"] as const));
  assert.deepEqual([some.live, some.restart.toSorted()], [["references"], ["limits", "ordering", "ttl", "workers"]]);
});
