import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeCounts, type NodeOf } from "./node-counts.js";

test("a node may have 10,000 polls, whatever the limit of streams is, and another node as many", () => {
  const counts = new NodeCounts({ streamsPerNode: 1 });
  const polls: NodeOf = { caller: { identity: undefined }, node: { id: "n1" }, kind: "poll" };
  for (let poll = 0; poll < 10_000; poll += 1) {
    assert.equal(counts.refusal(polls), undefined);
    counts.add(polls, 1);
  }
  assert.match(counts.refusal(polls)?.message ?? "", /^node "n1" has 10000 polls open, and no node may have more$/);
  assert.equal(counts.refusal({ ...polls, node: { id: "n2" } }), undefined);
  counts.add(polls, -1);
  assert.equal(counts.refusal(polls), undefined);
});
