import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ClusterLoad } from "@xdskit/protocol";
import { testNode } from "../../testing/test-node.js";
import { LoadReportStore } from "./load-report-store.js";
import { createLoadCounters } from "./load-totals.js";

const plenty = { reportNodes: 100, reportBytes: 1e9 };

function load(cluster: string, zones: Readonly<Record<string, number>>, more: Partial<ClusterLoad> = {}): ClusterLoad {
  return {
    cluster,
    service: "",
    intervalMs: 1_000,
    dropped: 0,
    droppedByCategory: [],
    localities: Object.entries(zones).map(([zone, count]) => ({
      locality: { region: "", zone, subZone: "" },
      priority: 0,
      successful: count,
      errors: 0,
      issued: count,
      inProgress: count,
      metrics: [],
      endpoints: [],
    })),
    ...more,
  };
}
const reporter = (id: string) => ({ node: testNode({ id }), group: "all" });
const shown = (store: LoadReportStore) =>
  store
    .reports()
    .map(
      ({ node, cluster, receivedAt, localities }) =>
        `${node.id} ${cluster}@${receivedAt} ${localities.map(({ locality, successful, receivedAt }) => `${locality.zone}=${successful}@${receivedAt}`).join()}`,
    );

describe("the store of load reports", () => {
  it("the store keeps the latest of each node, cluster and locality", () => {
    const store = new LoadReportStore(plenty);
    store.record(reporter("n"), [load("a", { x: 1, y: 2 }), load("b", { x: 3 })], 10);
    store.record(reporter("m"), [load("a", { x: 4 })], 11);
    store.record(reporter("n"), [load("a", { y: 5 }), load("b", {})], 20);
    assert.deepEqual(shown(store), ["m a@11 x=4@11", "n a@20 x=1@10,y=5@20", "n b@20 x=3@10"]);
    assert.equal(store.reports({ node: "n" }).length, 2);
    assert.equal(store.reports({ cluster: "a" }).length, 2);
    assert.deepEqual(store.reports({ node: "nobody" }), []);
  });

  it("the store separates clusters of one name with different services, and priorities of a locality", () => {
    const store = new LoadReportStore(plenty);
    const [one] = load("a", { x: 1 }).localities;
    assert.ok(one);
    const localities = [one, { ...one, priority: 1 }];
    store.record(reporter("n"), [load("a", {}, { localities }), load("a", { x: 2 }, { service: "s" })], 1);
    assert.deepEqual(
      store.reports().map(({ service, localities }) => [service, localities.length]),
      [
        ["", 2],
        ["s", 1],
      ],
    );
  });

  it("the store weighs only the report and not the kept ones, so a small report costs little", () => {
    const store = new LoadReportStore(plenty);
    let weighed = 0;
    const endpoint = {
      get address() {
        weighed += 1;
        return "10.0.0.1:80";
      },
      successful: 1,
      errors: 0,
      inProgress: 0,
      issued: 1,
      metrics: [],
    };
    const [large, small] = load("a", { large: 1, small: 2 }).localities;
    assert.ok(large && small);
    const report = (...localities: ClusterLoad["localities"]) =>
      store.record(reporter("n"), [load("a", {}, { localities })], 1);
    report(small);
    const before = store.weight;
    report({ ...large, endpoints: [endpoint] });
    weighed = 0;
    for (let time = 0; time < 100; time++) report(small);
    assert.equal(weighed, 0);
    assert.ok(store.weight > before);
    report({ ...large, endpoints: [endpoint] });
    report(large);
    assert.equal(store.weight, weightAlone(large, small));

    function weightAlone(...localities: ClusterLoad["localities"]): number {
      const other = new LoadReportStore(plenty);
      other.record(reporter("n"), [load("a", {}, { localities })], 1);
      return other.weight;
    }
  });

  it("the store keeps nothing of clusters without traffic", () => {
    const store = new LoadReportStore(plenty);
    store.record(reporter("n"), [load("a", {}), load("b", {})], 1);
    assert.deepEqual([store.nodes, store.weight], [0, 0]);
  });

  it("the store knows the current load: the last messages of nodes with a stream", () => {
    const store = new LoadReportStore(plenty);
    const now = () => Array.from(store.current(), ({ cluster, locality }) => `${cluster} ${locality.locality.zone}`);
    store.began("n");
    store.record(reporter("n"), [load("a", { x: 1, y: 1 })], 5);
    store.record(reporter("n"), [load("a", { y: 1 })], 5);
    store.record(reporter("gone"), [load("a", { x: 1 })], 5);
    assert.deepEqual(now(), ["a y"]);
    store.began("n");
    store.ended("n", 6);
    assert.deepEqual(now(), ["a y"]);
    store.ended("n", 6);
    assert.deepEqual(now(), []);
  });

  it("the store counts the parts of one report as one message", () => {
    const store = new LoadReportStore(plenty);
    store.began("n");
    store.record(reporter("n"), [load("a", { x: 1 })], 5);
    store.record(reporter("n"), [load("b", { x: 1 })], 6, true);
    assert.deepEqual(
      Array.from(store.current(), ({ cluster }) => cluster),
      ["a", "b"],
    );
    store.record(reporter("n"), [load("b", { x: 2 })], 6);
    assert.deepEqual(
      Array.from(store.current(), ({ cluster }) => cluster),
      ["b"],
    );
  });

  it("the store forgets a node some time after its last stream, unless it comes back", () => {
    const store = new LoadReportStore(plenty);
    for (const id of ["n", "m"]) {
      store.began(id);
      store.record(reporter(id), [load("a", { x: 1 })], 1);
    }
    store.began("n");
    store.ended("n", 10);
    store.sweep(100);
    assert.equal(store.nodes, 2);
    store.ended("n", 10);
    store.ended("m", 20);
    assert.equal(store.leaving, 2);
    store.sweep(9);
    store.began("m");
    store.sweep(100);
    assert.deepEqual(shown(store), ["m a@1 x=1@1"]);
    assert.equal(store.leaving, 0);
    store.ended("m", 200);
    store.sweep(200);
    assert.deepEqual([store.nodes, store.weight], [0, 0]);
  });

  it("the store forgets the node with the oldest report when there are too many nodes or bytes", () => {
    const few = new LoadReportStore({ ...plenty, reportNodes: 2 });
    for (const id of ["n", "m", "n", "o"]) few.record(reporter(id), [load("a", { x: 1 })], 1);
    assert.deepEqual(new Set(few.reports().map(({ node }) => node.id)), new Set(["n", "o"]));
    const small = new LoadReportStore({ ...plenty, reportBytes: 5_000 });
    for (let round = 0; round < 1_000; round++) {
      const names = Array.from({ length: 30 }, (_, index) => load(`cluster-${round}-${index}`, { x: 1 }));
      small.record(reporter(`n${round % 7}`), names, round);
      assert.ok(small.weight <= 5_000, `${small.weight}`);
    }
    const [last] = small.reports().slice(-1);
    assert.equal(last?.cluster, "cluster-999-29");
    for (let round = 0; round < 1_000; round++)
      small.record(reporter("n"), [load("a", { [`zone-${round}`]: 1 })], round);
    assert.ok(small.weight <= 5_000);
  });
});

describe("sums of load", () => {
  it("sums of load never shrink, and share rows beyond the limits", () => {
    const counters = createLoadCounters({ clusters: 3, localities: 2, categories: 1 });
    const known = (name: string) => name.startsWith("known");
    const drops = {
      dropped: 6,
      droppedByCategory: [
        { category: "p", count: 2 },
        { category: "q", count: 3 },
      ],
    };
    counters.add(
      [load("known", { x: 1, y: 2, z: 4, w: 8 }, drops), load("foreign", { x: 16 }), load("strange", { x: 32 })],
      known,
    );
    const rows = () =>
      counters.localities([]).map(({ cluster, locality, successful }) => `${cluster} ${locality.zone} ${successful}`);
    assert.deepEqual(rows(), ["known x 1", "known y 2", "known (other) 12", "(other) x 48"]);
    assert.deepEqual(
      counters.drops.map(({ category, count }) => [category, count]),
      [
        ["p", 2],
        ["(other)", 4],
      ],
    );
    counters.add([load("known-2", { x: 1 }), load("known", { x: 1 }), load("known-3", { x: 1 })], known);
    // The row without a report for the longest time lost its place, and never the one that strangers share.
    assert.deepEqual(rows(), ["(other) x 48", "known x 2", "known y 2", "known (other) 12", "known-3 x 1"]);
    counters.add([load("known", {}, { dropped: 1 })], known);
    assert.deepEqual(
      counters.drops.map(({ count }) => count),
      [2, 5],
    );
  });
});
