import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { it } from "node:test";
import { getHeapSnapshot } from "node:v8";
import { createServer } from "@xdskit/server";
import { createBareStreams, type Wish } from "./bare-streams.js";
import { build } from "./resources.js";

// A literal that begins with a spread, `{ ...a, b }`, gets a hidden class of its own each time that it runs: one such
// object in each stream is memory, garbage that the collector is slow with, and code that meets another shape with
// every stream and so stays slow. The objects of streams are written out.

const wishes: readonly Wish[] = (["sotw", "delta"] as const).flatMap((variant): Wish[] => [
  { variant, type: "cluster", names: [] },
  { variant, type: "endpoint", names: ["cluster-000000", "cluster-000001"] },
]);

/** The present number of V8's maps, which is its name for hidden classes. */
async function hiddenClasses(): Promise<number> {
  const snapshot: unknown = JSON.parse(await text(getHeapSnapshot()));
  const { nodes, strings } = snapshot as { readonly nodes: readonly number[]; readonly strings: readonly string[] };
  const map = strings.indexOf("system / Map");
  assert.notEqual(map, -1, "a heap snapshot has another form than expected");
  // Seven numbers for each node; the second is its name.
  let count = 0;
  for (let at = 1; at < nodes.length; at += 7) if (nodes[at] === map) count += 1;
  return count;
}

it("a server makes no hidden classes for a further stream", { timeout: 60_000 }, async () => {
  const server = createServer();
  try {
    const shape = { clusters: 10, endpoints: 1, payload: 0, groups: 1 };
    server.config.set([...build("cds", 0, 10, 1, shape), ...build("eds", 0, 10, 1, shape)]);
    const bare = await createBareStreams(server);
    const open = async (from: number, to: number) => {
      const before = bare.responses;
      for (let node = from; node < to; node += 1) for (const wish of wishes) bare.open(String(node), wish);
      const answered = () => bare.responses - before === (to - from) * wishes.length;
      for (let turn = 0; turn < 10_000 && !answered(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
      assert.ok(answered());
      // The last acknowledgements.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await open(0, 20);
    const before = await hiddenClasses();
    await open(20, 120);
    const after = await hiddenClasses();
    assert.ok(after - before < 40, `${after - before} hidden classes for ${100 * wishes.length} streams`);
  } finally {
    await server.close();
  }
});
