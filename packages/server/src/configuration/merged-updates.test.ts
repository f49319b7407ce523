import assert from "node:assert/strict";
import { it } from "node:test";
import { createResource } from "@xdskit/api";
import fc from "fast-check";
import type { LayerUpdate } from "../contracts/source.js";
import { cluster } from "../testing/test-resources.js";
import { createLayers } from "./layers.js";
import { mergedUpdates } from "./merged-updates.js";

const name = fc.constantFrom("a", "b", "c", "d");
const resources = fc
  .uniqueArray(name, { maxLength: 3 })
  .chain((names) =>
    fc
      .array(fc.nat(3), { minLength: names.length, maxLength: names.length })
      .map((contents) => names.map((one, index) => createResource(cluster(one, `${contents[index]}`)))),
  );
const { type } = createResource(cluster("a"));
const update: fc.Arbitrary<LayerUpdate> = fc.record({
  layer: fc.constantFrom("one", "two"),
  kind: fc.constantFrom("replace", "patch"),
  upsert: resources,
  remove: fc.array(
    name.map((one) => ({ type, name: one })),
    { maxLength: 2 },
  ),
});

function after(updates: readonly LayerUpdate[]): object {
  const layers = createLayers();
  const start = [createResource(cluster("a", "start")), createResource(cluster("b", "start"))];
  layers.apply([{ layer: "one", kind: "replace", upsert: start }]);
  // One update after the other: a change that names a layer twice is another matter.
  for (const one of updates) layers.apply([one]);
  return Object.fromEntries(
    ["one", "two"].map((layer) => [
      layer,
      [...(layers.get(layer)?.of(type) ?? [])].map(({ key, version }) => `${key} ${version}`).sort(),
    ]),
  );
}

it("a merged change does what its changes do, one after the other", () => {
  fc.assert(
    fc.property(fc.array(update, { maxLength: 6 }), (updates) => {
      const merged = updates.reduce<readonly LayerUpdate[]>((all, one) => mergedUpdates(all, [one]), []);
      assert.deepEqual(after(merged), after(updates));
    }),
    { numRuns: 500 },
  );
});
