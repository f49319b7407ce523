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

/** What is counted in a heap snapshot, and V8's name for it. */
interface Counted {
  /** V8's maps. */
  readonly hiddenClasses: number;
  /** Functions with the variables around them, which V8 calls contexts. */
  readonly functions: number;
}

async function counted(): Promise<Counted> {
  const snapshot: unknown = JSON.parse(await text(getHeapSnapshot()));
  const { nodes, strings } = snapshot as { readonly nodes: readonly number[]; readonly strings: readonly string[] };
  const { node_types } = (snapshot as { readonly snapshot: { readonly meta: { readonly node_types: unknown[][] } } })
    .snapshot.meta;
  const map = strings.indexOf("system / Map");
  const context = strings.indexOf("system / Context");
  const closure = node_types[0]?.indexOf("closure") ?? -1;
  for (const each of [map, context, closure])
    assert.notEqual(each, -1, "a heap snapshot has another form than expected");
  // Seven numbers for each node; the first is its type, the second its name.
  let hiddenClasses = 0;
  let functions = 0;
  for (let at = 0; at < nodes.length; at += 7) {
    if (nodes[at + 1] === map) hiddenClasses += 1;
    if (nodes[at + 1] === context || nodes[at] === closure) functions += 1;
  }
  return { hiddenClasses, functions };
}

it("a server makes no hidden classes for a further stream, and few functions", { timeout: 60_000 }, async () => {
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
    const before = await counted();
    await open(20, 120);
    const after = await counted();
    const streams = 100 * wishes.length;
    const classes = after.hiddenClasses - before.hiddenClasses;
    assert.ok(classes < 40, `${classes} hidden classes for ${streams} streams`);
    // With the variables around them; a class costs a stream none.
    const functions = (after.functions - before.functions) / streams;
    assert.ok(functions < 18, `${functions} functions of its own for each stream`);
  } finally {
    await server.close();
  }
});
