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
});
