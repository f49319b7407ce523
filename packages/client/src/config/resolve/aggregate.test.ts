import assert from "node:assert/strict";
import { test } from "node:test";
import { leavesOf } from "./aggregate.js";

function leaves(root: string, graph: Readonly<Record<string, readonly string[]>>) {
  return leavesOf(root, (name) => graph[name] ?? "end");
}

test("an aggregate cluster gives the clusters at its ends, depth first, each once (A37)", () => {
  const graph = { a: ["x", "b", "y"], b: ["z", "c", "x"], c: ["w", "z"] };
  assert.deepEqual(leaves("a", graph), { leaves: ["x", "z", "w", "y"] });
});

test("aggregate clusters that lead back to themselves are an error, and two ways to one cluster are none", () => {
  assert.deepEqual(leaves("a", { a: ["a"] }), { problem: 'aggregate clusters lead back to "a"' });
  assert.deepEqual(leaves("a", { a: ["b"], b: ["c"], c: ["x", "b"] }), {
    problem: 'aggregate clusters lead back to "b"',
  });
  assert.deepEqual(leaves("a", { a: ["b", "c"], b: ["d"], c: ["d"], d: ["x"] }), { leaves: ["x"] });
});

test("sixteen clusters may stand below each other, and no more", () => {
  const chain = (length: number) =>
    Object.fromEntries(Array.from({ length: length - 1 }, (_, index) => [`c${index}`, [`c${index + 1}`]] as const));
  assert.deepEqual(leaves("c0", chain(16)), { leaves: ["c15"] });
  assert.deepEqual(leaves("c0", chain(17)), { problem: "aggregate clusters lead deeper than 16 levels" });
});

test("the search costs the number of clusters, not the number of ways through them", () => {
  const ladder = Object.fromEntries(
    Array.from({ length: 14 }, (_, level) =>
      Array.from({ length: 20 }, (_, index) => [
        `${level}.${index}`,
        Array.from({ length: 20 }, (_, next) => `${level + 1}.${next}`),
      ]),
    ).flat(),
  );
  const found = leaves("0.0", ladder);
  assert.ok("leaves" in found);
  assert.equal(found.leaves.length, 20);
});
