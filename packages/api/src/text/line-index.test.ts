import assert from "node:assert/strict";
import { test } from "node:test";
import { LineIndex } from "./line-index.js";

for (const text of [
  "",
  "\n",
  "a",
  "ab\ncd",
  "ab\n\n\ncd\n",
  "\n\na\r\nb",
  "a\rb\r\r\nc\n\rd\r",
  "ab\n".repeat(50_000),
]) {
  test(`places in ${JSON.stringify(text.slice(0, 20))} are the same in any order of the lookups`, () => {
    const expected = (offset: number) => {
      const ends = [...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: { length } }) => index + length);
      const before = ends.filter((end) => end <= offset);
      return { line: before.length + 1, column: offset - (before.at(-1) ?? 0) + 1 };
    };
    const step = Math.max(1, Math.floor(text.length / 50));
    const offsets = Array.from({ length: Math.floor(text.length / step) + 1 }, (_, index) => index * step);
    for (const order of [offsets, offsets.toReversed(), [...offsets, ...offsets]]) {
      const index = new LineIndex(text);
      for (const offset of order) assert.deepEqual(index.at(offset), expected(offset), `${order}: ${offset}`);
    }
  });
}
