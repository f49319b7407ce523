import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { drawRatios, readRatios } from "../bench/chart.mjs";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("docs/benchmarks.md", () => {
  it("the page shows the chart that bench/chart.mjs draws of bench/RESULTS.md", () => {
    assert.ok(read("docs/benchmarks.md").includes("(../bench/ratios.svg)"));
    assert.equal(
      read("bench/ratios.svg"),
      drawRatios(readRatios(read("bench/RESULTS.md"))),
      "run: node bench/chart.mjs > bench/ratios.svg",
    );
  });

  it("the page says of a start from a cluster what bench/RESULTS.md measured last", () => {
    const row = /^\| CPU until then \(s\) \| ([\d.]+) .*\| ([\d.]+) /m.exec(read("bench/RESULTS.md"));
    const [theirs, ours] = row?.slice(1).map(Number) ?? assert.fail("there is no such row");
    const [, said] = /\*\*A start from a Kubernetes cluster\*\* (.*?)\n- /s.exec(read("docs/benchmarks.md")) ?? [];
    assert.match(
      said ?? "",
      new RegExp(`\\[${((ours ?? 0) / (theirs ?? 1)).toFixed(1)} times\\s+the CPU\\].*: ${ours} s\\.`, "s"),
    );
  });
});
