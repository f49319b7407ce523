import assert from "node:assert/strict";
import { test } from "node:test";
import { LineIndex } from "./line-index.js";

for (const text of ["", "\n", "a", "ab\ncd", "ab\n\n\ncd\n", "\n\na\r\nb"]) {
  test(`places in ${JSON.stringify(text)} are the same in any order of the lookups`, () => {
    const expected = (offset: number) => {
      const before = text.slice(0, offset).split("\n");
      return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
    };
    const offsets = Array.from({ length: text.length + 1 }, (_, offset) => offset);
    for (const order of [offsets, offsets.toReversed(), [...offsets, ...offsets]]) {
      const index = new LineIndex(text);
      for (const offset of order) assert.deepEqual(index.at(offset), expected(offset), `${order}: ${offset}`);
    }
  });
}
