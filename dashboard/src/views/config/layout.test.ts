import assert from "node:assert/strict";
import { it } from "node:test";
import type { GraphJson } from "../../api/types.js";
import { boxHeight, layoutOf } from "./layout.js";

function graph(names: readonly string[], edges: readonly (readonly [string, string])[]): GraphJson {
  const nodes = names.map((text) => {
    const [type = "", name = ""] = text.split(" ");
    return { type, name, isThere: true, unused: false, summary: "", health: null };
  });
  return {
    nodes,
    edges: edges.map(([from, to]) => ({ from: names.indexOf(from), to: names.indexOf(to) })),
    isCut: false,
  };
}

it("endpoints stand beside their cluster, also behind one that has none, and no boxes overlap", () => {
  const names = ["listener a", "route r", "cluster one", "cluster gone", "cluster two", "cluster unused"];
  const made = graph(
    [...names, "endpoint one", "endpoint two", "endpoint unused"],
    [
      ["listener a", "route r"],
      ["route r", "cluster one"],
      ["route r", "cluster gone"],
      ["route r", "cluster two"],
      ["cluster one", "endpoint one"],
      ["cluster two", "endpoint two"],
      ["cluster unused", "endpoint unused"],
    ],
  );
  const { nodes, columns, width } = layoutOf(made, 1_200);
  assert.deepEqual(columns, ["listener", "route", "cluster", "endpoint"]);
  const at = (text: string) => nodes.find(({ node }) => `${node.type} ${node.name}` === text);
  for (const name of ["one", "two", "unused"]) assert.equal(at(`endpoint ${name}`)?.y, at(`cluster ${name}`)?.y, name);
  assert.ok(width <= 1_200);
  for (const a of nodes) {
    for (const b of nodes) assert.ok(a === b || a.x !== b.x || Math.abs(a.y - b.y) >= boxHeight);
  }
});
