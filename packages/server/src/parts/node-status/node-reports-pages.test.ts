import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes, systemClock } from "@xdskit/api";
import type { Node } from "@xdskit/protocol";
import type { EachNodeFilter } from "../../contracts/nodes/node-status.js";
import type { OpenStream } from "../../contracts/nodes/reported-stream.js";
import { ads } from "../../testing/running-server.js";
import { createNodeReports } from "./node-reports.js";

const about: Omit<Node, "id"> = {
  cluster: "",
  userAgentName: "",
  userAgentVersion: "",
  metadata: {},
  clientFeatures: [],
  locality: { region: "", zone: "", subZone: "" },
};

let asked = 0;

function stream(number: number, id: string, group = "all"): OpenStream {
  return {
    opened: { id: number, method: ads("delta"), peer: "", node: { id, ...about }, group },
    openedAt: 0,
    layers: undefined,
    snapshot: undefined,
    newest: undefined,
    isInSync: true,
    outOfSyncSince: 0,
    lagFrom: 0,
    status: () => {
      asked += 1;
      return [];
    },
  };
}

const idsOf = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => id);

test("pages of nodes are in the order of their ids, whichever nodes come and go between them", () => {
  const first = stream(0, "c");
  const streams = new Set([first, ...["a", "e", "b"].map((id, index) => stream(index + 1, id))]);
  const reports = createNodeReports(streams, systemClock, resourceTypes);
  assert.deepEqual(idsOf(reports.nodes()), ["a", "b", "c", "e"]);
  assert.deepEqual(idsOf(reports.nodes({ most: 2 })), ["a", "b"]);
  // One node comes back, one is new before the listed ids, and one behind them.
  streams.delete(first);
  for (const id of ["c", "0", "d"]) streams.add(stream(streams.size + 1, id));
  assert.deepEqual(idsOf(reports.nodes({ most: 2, after: "b" })), ["c", "d"]);
  assert.deepEqual(idsOf(reports.nodes({ most: 2, after: "d" })), ["e"]);
  assert.deepEqual(idsOf(reports.nodes({ after: "c" })), ["d", "e"]);
  assert.deepEqual(reports.nodes({ after: "e" }), []);
});

test("a node that comes back while others are looked at is still there, in its place", () => {
  const first = stream(1, "b");
  const streams = new Set([stream(0, "a"), first, stream(2, "c"), stream(3, "d")]);
  const found: string[] = [];
  for (const { id } of createNodeReports(streams, systemClock, resourceTypes).eachNode()) {
    found.push(id);
    if (id !== "a") continue;
    for (const each of [...streams].slice(1)) {
      streams.delete(each);
      Object.assign(each, { opened: undefined });
    }
    streams.add(stream(4, "b"));
    streams.add(stream(5, "d"));
  }
  assert.deepEqual(found, ["a", "b", "d"]);
});

test("a page costs the streams of its nodes, and picks by group before it looks at them", () => {
  const streams = Array.from({ length: 1_000 }, (_, index) =>
    stream(index, `n${index % 500}`, index % 500 < 250 ? "even" : "odd"),
  );
  const reports = createNodeReports(streams, systemClock, resourceTypes);
  const costOf = (read: () => unknown) => {
    asked = 0;
    read();
    return asked;
  };
  const ofOne = costOf(() => reports.nodes({ most: 1 }));
  assert.equal(
    costOf(() => reports.nodes({ most: 10 })),
    10 * ofOne,
  );
  assert.equal(
    costOf(() => reports.nodes({ most: 10, group: "odd" })),
    10 * ofOne,
  );
  assert.equal(
    costOf(() => reports.nodes()),
    500 * ofOne,
  );
  assert.deepEqual(idsOf(reports.nodes({ most: 2, group: "odd", state: "synced" })), ["n250", "n251"]);
  assert.deepEqual(reports.nodes({ most: 2, state: "rejected" }), []);
});

test("each node comes once, as it is when it is read, for one look at the streams, and one more for each that ended", () => {
  const streams = ["c", "a", "b", "a"].map((id, index) => stream(index, id));
  let looks = 0;
  const counted = {
    [Symbol.iterator]() {
      looks += 1;
      return streams[Symbol.iterator]();
    },
  };
  const read: string[] = [];
  for (const { id } of createNodeReports(counted, systemClock, resourceTypes).eachNode()) {
    read.push(id);
    // Its stream ends before its turn comes.
    Object.assign(streams[2] ?? {}, { opened: undefined });
  }
  assert.deepEqual([read, looks], [["a", "c"], 2]);
  const of = (filter: EachNodeFilter) =>
    idsOf([...createNodeReports(counted, systemClock, resourceTypes).eachNode(filter)]);
  assert.deepEqual([of({ after: "a" }), of({ group: "all" }), of({ group: "none" })], [["c"], ["a", "c"], []]);
});
