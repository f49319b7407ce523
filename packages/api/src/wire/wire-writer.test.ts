import assert from "node:assert/strict";
import test from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { WireReader } from "./wire-reader.js";
import { fieldBytes, textBytes, WireWriter } from "./wire-writer.js";

test("a field of any number is written as the library writes it, and its content is read in place", () => {
  const content = Uint8Array.from({ length: 300 }, (_, index) => index);
  for (const field of [1, 15, 16, 2_047, 2_048, 536_870_911]) {
    const bytes = fieldBytes(field, content);
    assert.deepEqual(bytes, new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(content).finish());
    const reader = new WireReader(bytes);
    assert.equal(reader.tag() >>> 3, field);
    const part = reader.part();
    assert.deepEqual([part, part.buffer, reader.atEnd], [content, bytes.buffer, true]);
  }
});

test("texts and numbers are written as the library writes them", () => {
  for (const text of ["", "a", "ä€😀", "x".repeat(200), "€".repeat(200)])
    assert.deepEqual(textBytes(15, text), new BinaryWriter().tag(15, WireType.LengthDelimited).string(text).finish());
  const writer = new WireWriter(10);
  writer.number(16, 2 ** 53 - 1);
  assert.deepEqual(
    writer.bytes,
    new BinaryWriter()
      .tag(16, WireType.Varint)
      .uint64(2 ** 53 - 1)
      .finish(),
  );
});
