import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diffLines } from "@xdskit/admin/line-diff";
import { besideRows, placesNear } from "./beside.js";

/** `left|right` in each row. */
function rowsOf(from: string, to: string): readonly string[] {
  return besideRows(diffLines([...from], [...to])).map(({ left, right }) => `${left?.text ?? ""}|${right?.text ?? ""}`);
}

describe("two texts beside each other", () => {
  it("have equal lines in one row, and what replaces something beside it", () => {
    assert.deepEqual(rowsOf("axb", "ayb"), ["a|a", "x|y", "b|b"]);
    assert.deepEqual(rowsOf("ab", "axyb"), ["a|a", "|x", "|y", "b|b"]);
    assert.deepEqual(rowsOf("axyb", "azb"), ["a|a", "x|z", "y|", "b|b"]);
    assert.deepEqual(rowsOf("", "ab"), ["|a", "|b"]);
    assert.deepEqual(rowsOf("ab", ""), ["a|", "b|"]);
  });

  it("show what stands near a difference", () => {
    assert.deepEqual([...placesNear(10, (place) => place === 4, 2)], [2, 3, 4, 5, 6]);
    assert.deepEqual([...placesNear(3, (place) => place === 0, 2)], [0, 1, 2]);
    assert.deepEqual([...placesNear(5, () => false, 2)], []);
  });
});
