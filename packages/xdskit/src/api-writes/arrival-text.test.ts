import assert from "node:assert/strict";
import { test } from "node:test";
import type { ArrivalJson } from "../api-client/api-types.js";
import { plain } from "../output/colours.js";
import { arrivalText } from "./arrival-text.js";

const text = (
  result: "acknowledged" | "rejected" | "timeout",
  acknowledged: number,
  ...nodes: readonly ArrivalJson["nodes"][number][]
) => {
  const count = (state: string) => nodes.filter((node) => node.state === state).length;
  const waiting = { pending: count("pending"), "held-back": count("held-back") };
  const counts = { acknowledged, rejected: count("rejected"), ...waiting };
  const arrival = { revision: "r", counts, nodes: [...nodes], uncounted: [] };
  return arrivalText({ result, arrival }, 30_000, plain);
};
const bad = { id: "edge-2", group: "edge", state: "rejected", message: "no such\ncluster" } as const;
const silent = { id: "edge-3", group: "edge", state: "pending", message: "" } as const;

test("a change that all nodes have is one line", () => {
  assert.equal(text("acknowledged", 1), "1 of 1 node acknowledged it\n");
  assert.equal(text("acknowledged", 0), "no node has a stream that this change concerns\n");
});

test("a rejected change lists the nodes that have it, rejected it and why, or are silent", () => {
  assert.equal(
    text("rejected", 1, bad, silent),
    `1 of 3 nodes acknowledged it, 1 rejected it, 1 did not answer yet
  edge-2 rejected it: no such\\u{a}cluster
  edge-3 has not answered
`,
  );
});

test("a change that did not arrive in time says how long the wait was, and why a node is silent", () => {
  assert.equal(
    text("timeout", 0, { ...silent, message: "cluster: waits for its ACK" }),
    "0 of 1 node acknowledged it, 1 did not answer within 30 s\n  edge-3 has not answered: cluster: waits for its ACK\n",
  );
});

test("a server that does not report its nodes is named", () => {
  const counts = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
  const uncounted = [{ replica: "b:1", reason: "it did not answer within 3 s" }];
  assert.equal(
    arrivalText({ result: "timeout", arrival: { revision: "r", counts, nodes: [], uncounted } }, 30_000, plain),
    "no node acknowledged it within 30 s\n  nodes of the server b:1 are not counted: it did not answer within 3 s\n",
  );
});

test("a server that answers for itself alone, and does not know the nodes of its run before, is not named", () => {
  const counts = { acknowledged: 0, rejected: 0, pending: 0, "held-back": 0 };
  const uncounted = [{ replica: "this server", reason: "it started after the change" }];
  assert.equal(
    arrivalText({ result: "timeout", arrival: { revision: "r", counts, nodes: [], uncounted } }, 60_000, plain),
    "no node acknowledged it within 60 s\n  nodes of this server are not counted: it started after the change\n",
  );
});

test("a change whose nodes all went away is not one that concerns none", () => {
  assert.equal(
    text("timeout", 0),
    "no node acknowledged it within 30 s\n  the nodes that it concerns have no stream any more\n",
  );
});

test("the first of many nodes are named, and the others counted", () => {
  const many = Array.from({ length: 50 }, (_, index) => ({ ...silent, id: `n${index}` }));
  const lines = text("timeout", 0, ...many)
    .trimEnd()
    .split("\n");
  assert.deepEqual([lines.length, lines.at(-1)], [12, "  … and 40 more"]);
});
