import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonInTurns } from "./json-in-turns.js";

describe("JSON in turns", () => {
  const many = Array.from({ length: 3_000 }, (_, index) => ({
    name: `é${index}`,
    parts: [index, { deep: "a\nb" }, []],
  }));
  for (const value of [
    {},
    { none: undefined },
    { a: 1, b: undefined, c: [], d: [undefined, null, "x"] },
    { many, next: "n" },
  ])
    it(`is that of one turn: ${JSON.stringify(value).slice(0, 40)}`, async () => {
      for (const space of [0, 2])
        assert.equal((await jsonInTurns(value, space)).toString().trimEnd(), JSON.stringify(value, undefined, space));
    });
});
