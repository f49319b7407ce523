import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { drawRatios, readRatios } from "../bench/chart.mjs";

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const ratios: Map<string, Map<string, number | undefined>> = readRatios(read("bench/RESULTS.md"));

describe("docs/benchmarks.md", () => {
  it("the page shows the chart that bench/chart.mjs draws of bench/RESULTS.md", () => {
    assert.ok(read("docs/benchmarks.md").includes("(../bench/ratios.svg)"));
    assert.equal(read("bench/ratios.svg"), drawRatios(ratios), "run: node bench/chart.mjs > bench/ratios.svg");
  });

  it("the page has in its table the ratios of bench/RESULTS.md", () => {
    const [, head = "", rows = ""] =
      /^\| row \| what happens \| (.*) \|\n\|.*\n((?:\|.*\n)+)/m.exec(read("docs/benchmarks.md")) ?? [];
    assert.ok(rows !== "");
    for (const line of rows.trim().split("\n")) {
      const [name = "", , ...values] = line.slice(2, -2).split(" | ");
      const row = ratios.get(name);
      assert.ok(row, name);
      for (const [index, column] of head.split(" | ").entries()) {
        const start = column === "CPU of a push" ? "CPU a push" : column;
        const [, ratio] = [...row].find(([title]) => title.startsWith(start)) ?? [];
        assert.equal(Number(values[index]), ratio, `${name}: ${column}`);
      }
    }
  });
});
