import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type DiffLine, lineDiff } from "./line-diff.js";

const text = (lines: readonly DiffLine[]) => lines.map(({ sign, text }) => `${sign}${text}`).join("\n");
const side = (lines: readonly DiffLine[], gone: "+" | "-") =>
  lines.filter(({ sign }) => sign !== gone).map(({ text }) => text);

test("a difference has kept, removed and new lines", () => {
  assert.equal(text(lineDiff(["a", "b", "c", "d"], ["a", "c", "x", "d"])), " a\n-b\n c\n+x\n d");
  assert.equal(text(lineDiff(["a"], ["a"])), " a");
  assert.equal(text(lineDiff([], ["a"])), "+a");
  assert.equal(text(lineDiff(["a", "a"], ["a"])), " a\n-a");
});

test("a difference contains both sides, and is the shortest one, for any texts", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(before, after);
      assert.deepEqual(side(diff, "+"), before);
      assert.deepEqual(side(diff, "-"), after);
      const common = diff.filter(({ sign }) => sign === " ").length;
      assert.equal(common, longestCommon(before, after));
    }),
    { seed: 1, numRuns: 500 },
  );
});

test("a text that has little in common with the one before is replaced", () => {
  const many = (letter: string) => Array.from({ length: 2_000 }, (_, index) => `${letter}${index}`);
  const diff = lineDiff(["head", ...many("a"), "tail"], ["head", ...many("b"), "tail"]);
  assert.equal(diff.length, 4_002);
  assert.deepEqual(diff[0], { sign: " ", text: "head" });
  assert.deepEqual(diff.at(-1), { sign: " ", text: "tail" });
});

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const one of a) {
    const next = [0];
    b.forEach((other, index) => {
      next.push(one === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    });
    row = next;
  }
  return row[b.length] ?? 0;
}
