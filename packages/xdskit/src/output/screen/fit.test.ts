import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cutToWidth, padToWidth, rowsOf, widthOf } from "./fit.js";

const red = (text: string) => `\u001b[31m${text}\u001b[39m`;

describe("what fits a terminal", () => {
  it("is measured in columns, without colours, and twice for wide characters", () => {
    assert.deepEqual(["abc", red("abc"), "日本", "e\u0301", "", "🚀"].map(widthOf), [3, 3, 4, 1, 0, 2]);
  });

  it("is cut with a mark, and its colours end there", () => {
    assert.equal(cutToWidth("abcdef", 6), "abcdef");
    assert.equal(cutToWidth("abcdef", 5), "abcd…");
    assert.equal(cutToWidth("日本語", 4), "日…");
    assert.equal(cutToWidth(`ab${red("cdef")}`, 4), "ab\u001b[31mc…\u001b[0m");
    for (let columns = 1; columns < 20; columns++)
      assert.ok(widthOf(cutToWidth(`x日${red("日本語 text")} and more`, columns)) <= columns, `${columns}`);
  });

  it("is padded by columns, and counted in rows", () => {
    assert.equal(padToWidth("日", 4), "日  ");
    assert.deepEqual(
      ["", "1234", "12345", red("12345678"), "123456789"].map((line) => rowsOf(line, 4)),
      [1, 1, 2, 2, 3],
    );
  });
});
