import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NodeRow, NodeSort } from "../contract/fleet.js";
import { pageOf } from "./select-rows.js";

const states = ["synced", "pending", "stale", "rejected"] as const;

/** A thousand nodes whose states and lags have nothing to do with their ids. */
const rows = Array.from({ length: 1_000 }, (_, index): NodeRow => {
  const random = (index * 7_919) % 1_000;
  return {
    id: `n-${String(index).padStart(4, "0")}`,
    group: "",
    cluster: "",
    client: "",
    locality: "",
    replicas: [""],
    connectedSince: "",
    streams: 1,
    behind: 0,
    why: "",
    types: [],
    state: states[random % 4] ?? "synced",
    lagMs: random % 10 === 0 ? null : random * 1_000_003,
  };
});

const page = (sort: NodeSort, offset = 0, descending = false) =>
  pageOf({ at: 0, rows, silent: [] }, { sort, descending, offset, limit: 10 }).nodes;

describe("a page of nodes", () => {
  it("is of the whole fleet by lag, and not of the first ids", () => {
    const slowest = Math.max(...rows.map(({ lagMs }) => lagMs ?? 0));
    assert.equal(page("lag")[0]?.lagMs, slowest);
    assert.equal(page("lag", 990)[9]?.lagMs, null);
    assert.equal(page("lag", 0, true)[0]?.lagMs, null);
  });

  it("is of the worst state, the slowest first, with `worst`", () => {
    const rejected = rows.filter(({ state }) => state === "rejected").map(({ lagMs }) => lagMs ?? -1);
    const expected = rejected.sort((a, b) => b - a).slice(0, 10);
    assert.deepEqual(
      page("worst").map(({ state, lagMs }) => [state, lagMs]),
      expected.map((lagMs) => ["rejected", lagMs]),
    );
    assert.equal(page("worst", 990)[9]?.state, "synced");
  });

  it("is by id within a state with `state`: rows of a page do not move while nothing changes", () => {
    const ids = page("state").map(({ id }) => id);
    assert.deepEqual(ids, ids.toSorted());
  });
});
