import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diffLines } from "./line-diff.js";

/** `-a +b  c`. */
function told(from: string, to: string): string {
  const signs = { same: " ", added: "+", removed: "-" } as const;
  return diffLines([...from], [...to])
    .map(({ kind, text }) => `${signs[kind]}${text}`)
    .join("");
}

describe("a difference of lines", () => {
  it("is the shortest", () => {
    assert.equal(told("abc", "abc"), " a b c");
    assert.equal(told("", "ab"), "+a+b");
    assert.equal(told("ab", ""), "-a-b");
    assert.equal(told("abcabba", "cbabac").replaceAll(/ ./g, "").length, 2 * 5);
    assert.equal(told("axb", "ayb"), " a-x+y b");
  });

  it("leads from one text to the other, whatever they are", () => {
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const make = () => Array.from({ length: random(12) }, () => "abc"[random(3)] ?? "");
      const [from, to] = [make(), make()];
      const lines = diffLines(from, to);
      assert.deepEqual(
        lines.filter(({ kind }) => kind !== "added").map(({ text }) => text),
        from,
      );
      assert.deepEqual(
        lines.filter(({ kind }) => kind !== "removed").map(({ text }) => text),
        to,
      );
      assert.deepEqual(
        lines.flatMap(({ left }) => left ?? []),
        from.map((_, index) => index + 1),
      );
      assert.deepEqual(
        lines.flatMap(({ right }) => right ?? []),
        to.map((_, index) => index + 1),
      );
    }
  });

  it("looks for at most a thousand differences, and shows texts with more as replaced", () => {
    const everyOther = (start: string, lines: number) =>
      Array.from({ length: lines }, (_, index) => (index % 2 === 0 ? `same ${index}` : `${start} ${index}`));
    const sameOf = (lines: number) => {
      const shown = diffLines(everyOther("a", lines), everyOther("b", lines));
      return shown.filter(({ kind }) => kind === "same").length;
    };
    // Each other line is one removed and one added.
    assert.equal(sameOf(1_000), 500);
    // What both begin with is found without a search.
    assert.equal(sameOf(1_002), 1);
  });
});
