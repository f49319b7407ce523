import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { giveMemory, takeMemory } from "./spare-memory.js";

describe("spare memory", () => {
  it("is long enough, whatever length is asked for, and has one holder at a time", () => {
    const held = new Set<Buffer>();
    for (const length of [0, 1, 16_383, 16_384, 16_385, 20_000, 20_000, 262_144, 262_145, 1_000_000]) {
      const piece = takeMemory(length);
      assert.ok(piece.length >= length && piece.length < length + 4_096, `${length}: ${piece.length}`);
      assert.ok(!held.has(piece));
      held.add(piece);
    }
    for (const piece of held) giveMemory(piece);
  });

  it("is used again, the piece that was given back last first, up to a mebibyte in all", () => {
    const given = Array.from({ length: 100 }, () => takeMemory(16 * 1024));
    for (const piece of given) giveMemory(piece);
    const taken = Array.from({ length: 100 }, () => takeMemory(16 * 1024));
    assert.deepEqual(
      taken.map((piece) => given.indexOf(piece)),
      [...Array.from({ length: 64 }, (_, index) => 99 - index), ...Array.from({ length: 36 }, () => -1)],
    );
  });

  it("does not keep a piece that is short, or longer than 256 KiB", () => {
    for (const length of [16_383, 262_145]) {
      const piece = takeMemory(length);
      giveMemory(piece);
      assert.notEqual(takeMemory(length), piece);
    }
  });
});
