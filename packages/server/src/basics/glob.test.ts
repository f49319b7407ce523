import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { times } from "../testing/basics/effort.js";
import { matchesGlob } from "./glob.js";

describe("matchesGlob", () => {
  const cases: readonly [pattern: string, text: string, matches: boolean][] = [
    ["", "", true],
    ["", "a", false],
    ["edge", "edge", true],
    ["edge", "edges", false],
    ["edge-*", "edge-", true],
    ["edge-*", "edge-eu-1", true],
    ["edge-*", "Edge-eu", false],
    ["*-eu-*", "edge-eu-1", true],
    ["*", "", true],
    ["**", "x", true],
    ["?", "", false],
    ["?", "x", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["*a*b", "xaxbxb", true],
    ["*a*b", "xbxa", false],
    [".*", "x", false],
    ["a.c", "abc", false],
  ];
  for (const [pattern, text, matches] of cases) {
    it(`${JSON.stringify(pattern)} ${matches ? "matches" : "does not match"} ${JSON.stringify(text)}`, () => {
      assert.equal(matchesGlob(pattern, text), matches);
    });
  }

  it("a glob matches the same texts as an equal regular expression", () => {
    const short = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });
    fc.assert(
      fc.property(short, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }), (pattern, text) => {
        const source = pattern.replaceAll("*", ".*").replaceAll("?", ".");
        assert.equal(matchesGlob(pattern, text), new RegExp(`^${source}$`).test(text));
      }),
      { numRuns: times(500) },
    );
  });

  it("a pattern that would make a regular expression backtrack for ever takes no time", () => {
    const start = performance.now();
    assert.equal(matchesGlob("*a*a*a*a*a*a*a*a*a*a*b", "a".repeat(20_000)), false);
    assert.ok(performance.now() - start < 10_000);
  });
});
