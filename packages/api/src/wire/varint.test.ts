import assert from "node:assert/strict";
import test from "node:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { putVarint, varintLength } from "./varint.js";

test("varints are written as the library writes them, around every length", () => {
  for (let bits = 0; bits <= 53; bits++) {
    for (const value of [2 ** bits - 1, 2 ** bits, 2 ** bits + 1].filter(Number.isSafeInteger)) {
      const bytes = new Uint8Array(10);
      const end = putVarint(bytes, 1, value);
      const expected = new BinaryWriter().uint64(value).finish();
      assert.deepEqual(bytes.subarray(1, end), expected, `${value}`);
      assert.equal(varintLength(value), expected.length, `${value}`);
    }
  }
});
