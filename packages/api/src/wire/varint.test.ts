import assert from "node:assert/strict";
import test from "node:test";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { putVarint, varintLength } from "./varint.js";
import { WireReader } from "./wire-reader.js";

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

test("whole numbers of 64 bits are read with their sign, and all their digits", () => {
  for (const value of [0n, 1n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])
    assert.equal(new WireReader(new BinaryWriter().int64(value).finish()).int64(), value);
  assert.throws(() => new WireReader(new Uint8Array(11).fill(0x80)).int64(), /longer than ten bytes/);
  assert.throws(() => new WireReader(Uint8Array.of(0x80)).int64(), /cut off/);
});
