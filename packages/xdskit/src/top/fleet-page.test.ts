import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPaint, plain } from "../output/colours.js";
import { widthOf } from "../output/screen/fit.js";
import type { FleetLook } from "./fleet-look.js";
import { fleetPage } from "./fleet-page.js";
import { allNodeRows } from "./fleet-rows.js";
import { roughDuration } from "./node-table.js";

type Row = FleetLook["rows"][number];

function row(id: string, state: Row["state"], parts: Partial<Row> = {}): Row {
  return {
    id,
    group: "edge",
    cluster: "",
    client: "envoy 1.38.0",
    locality: "",
    replicas: ["one"],
    streams: 1,
    state,
    connectedSince: "2030-01-01T00:00:00.000Z",
    behind: 0,
    lagMs: 12,
    why: "",
    types: [],
    ...parts,
  };
}

function look(rows: readonly Row[], parts: Partial<FleetLook> = {}): FleetLook {
  const states = { synced: 9_980, "held-back": 10, pending: 7, stale: 2, rejected: 1 };
  const replicas = ["one", "two"].map((name) => ({ name, states }));
  const revisions = { newest: states, before: { ...states, synced: 10 } };
  const summary = { asOf: "2030-01-01T00:00:00.000Z", nodes: 10_000, states, revisions, replicas };
  return {
    name: undefined,
    summary: { ...summary, types: [], groups: [], clients: [], silent: [] },
    rows,
    total: 10_000,
    problems: [{ severity: "error", title: "1 node rejects cluster a", count: 1 }],
    troubles: [],
    metrics: { at: 0, pushes: 0, lags: new Map() },
    heads: [],
    ...parts,
  };
}

const rates = { pushesPerSecond: 1_234.4, lag: { p50Ms: 10, p99Ms: 2_500 } };
const around = { server: "http://here", rates, paint: plain };
const bad = row("edge-7", "rejected", {
  lagMs: null,
  behind: 1,
  why: "cluster: no such thing, and much more to say of it",
});
const many = Array.from({ length: 200 }, (_, index) =>
  row(`node-with-a-long-name-${index}`, "pending", { why: "日本語".repeat(30) }),
);

describe("a page of top", () => {
  it("says how many nodes are how far, what is wrong, and which are the worst", () => {
    const text = fleetPage(look([bad, row("a", "synced")]), { ...around, size: undefined });
    assert.equal(
      text,
      `10,000 nodes: 1 rejected, 2 stale, 7 pending, 10 held-back, 9,980 synced   http://here
pushes 1,234/s   lag 10ms, slowest 2.5s
1 problem:
  error  1 node rejects cluster a

NODE    STATE     GROUP  CLIENT        REPLICA  LAG   BEHIND  WHY
edge-7  rejected  edge   envoy 1.38.0  one      -     1       cluster: no such thing, and much more to say of it
a       synced    edge   envoy 1.38.0  one      12ms  0
… and 9,998 more nodes
`,
    );
  });

  it("fits any terminal in width and height, with the total and the worst node on it", () => {
    const paint = createPaint(true, {});
    for (const columns of [20, 30, 40, 60, 80, 120, 300]) {
      for (const rows of [8, 10, 24, 100]) {
        const text = fleetPage(look([bad, ...many]), { ...around, paint, size: { rows, columns } });
        const lines = text.trimEnd().split("\n");
        assert.ok(lines.length <= rows, `${lines.length} lines in ${rows}`);
        for (const line of lines) assert.ok(widthOf(line) <= columns, `${columns}: ${JSON.stringify(line)}`);
        assert.match(lines[0] ?? "", /10,000 nodes/);
        assert.ok(
          lines.some((line) => line.includes("edge-7")),
          text,
        );
        if (columns >= 40) assert.match(lines.at(-1) ?? "", /… and [\d,]+ more nodes/);
      }
    }
  });

  it("keeps the node, its state and its lag where there is no room for more", () => {
    const [, , , , , head] = fleetPage(look([bad]), { ...around, size: { rows: 20, columns: 58 } }).split("\n");
    assert.match(head ?? "", /^NODE +STATE +.*LAG .*WHY$/);
    assert.doesNotMatch(head ?? "", /REPLICA|CLIENT/);
  });

  it("begins with the troubles of the sources, and still fits", () => {
    const troubles = [
      ...["a", "b", "c"].map((source) => ({ source, kind: "errors" as const, message: "a.yaml:1:1: no\nsuch type" })),
      { source: "api", kind: "rolled-back" as const, message: "revision 1 is served" },
    ];
    const found = look([bad, ...many], { troubles, metrics: undefined });
    const [first, , , fourth, total] = fleetPage(found, { ...around, size: undefined }).split("\n");
    assert.equal(first, "a has errors, and what was good last is served: a.yaml:1:1: no\\u{a}such type");
    assert.equal(fourth, "api: revision 1 is served, until the source changes");
    assert.match(total ?? "", /^10,000 nodes: /);
    const lines = fleetPage(found, { ...around, size: { rows: 8, columns: 40 } })
      .trimEnd()
      .split("\n");
    assert.deepEqual([lines.length, lines.findIndex((line) => line.startsWith("10,000 nodes"))], [8, 3]);
    assert.match(lines[5] ?? "", /^edge-7/);
    for (const line of lines) assert.ok(widthOf(line) <= 40, line);
  });

  it("names servers that do not answer, and forges no line", () => {
    const { summary } = look([]);
    const silent = [{ replica: "two\u001b[2J", reason: "no\nanswer" }];
    const text = fleetPage(look([row("x\ny", "synced")], { summary: { ...summary, silent } }), {
      ...around,
      size: undefined,
    });
    assert.match(text, /two\\u\{1b\}\[2J does not answer: no\\u\{a\}answer/);
    assert.match(text, /^x\\u\{a\}y/m);
  });

  it("writes durations short", () => {
    assert.deepEqual([null, 0, 999, 1_000, 59_949, 60_000, 7_200_000].map(roughDuration), [
      "-",
      "0ms",
      "999ms",
      "1.0s",
      "59.9s",
      "1m",
      "2h",
    ]);
  });
});

describe("the rows of a fleet", () => {
  const fleet = Array.from({ length: 2_345 }, (_, index) => row(`n-${index}`, "synced"));
  /** A page as the API gives it. */
  const page = async (limit: number, offset: number, all = fleet) => {
    assert.ok(limit <= 1_000);
    return { asOf: "2030-01-01T00:00:00.000Z", total: all.length, nodes: all.slice(offset, offset + limit) };
  };

  it("are all of them, page by page, or as many as are wanted", async () => {
    const all = await allNodeRows(page, Number.POSITIVE_INFINITY);
    assert.deepEqual([all.nodes, all.total], [fleet, 2_345]);
    assert.equal((await allNodeRows(page, 1_500)).nodes.length, 1_500);
    assert.equal((await allNodeRows(page, 0)).nodes.length, 1);
  });

  it("have each node once, and an end, though nodes come and go between two pages", async () => {
    const moved = await allNodeRows(
      (limit, offset) => page(limit, offset, offset === 0 ? fleet : fleet.toSpliced(0, 0, row("new", "rejected"))),
      Number.POSITIVE_INFINITY,
    );
    assert.equal(new Set(moved.nodes).size, moved.nodes.length);
    const gone = await allNodeRows((limit, offset) => page(limit, offset, offset === 0 ? fleet : []), 5_000);
    assert.deepEqual([gone.nodes.length, gone.total], [1_000, 1_000]);
  });
});
