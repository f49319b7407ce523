import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SpareMemory } from "./spare-memory.js";

const kb = 1024;

describe("spare memory", () => {
  it("is used again for messages that are about as long, and for no others", () => {
    const spare = new SpareMemory();
    const first = spare.take(40_000);
    assert.ok(first.length >= 40_000 && first.length < 40_000 + 16 * kb);
    spare.give(first);
    const longer = spare.take(70_000);
    assert.notEqual(longer, first);
    assert.equal(spare.take(40_900), first);
    assert.notEqual(spare.take(40_000), first);
  });

  it("is no more than what is asked for where that is little", () => {
    const spare = new SpareMemory();
    const small = spare.take(1_000);
    assert.equal(small.length, 1_000);
    spare.give(small);
    assert.notEqual(spare.take(1_000), small);
  });

  it("is bounded, and lets the oldest go first", () => {
    const spare = new SpareMemory();
    const pieces = Array.from({ length: 100 }, () => spare.take(32 * kb));
    for (const piece of pieces) spare.give(piece);
    const again = Array.from({ length: 100 }, () => spare.take(32 * kb));
    const known = new Set(pieces);
    assert.equal(again.filter((piece) => known.has(piece)).length, 32);
    assert.equal(again[0], pieces.at(-1));
    const huge = spare.take(1000 * kb);
    spare.give(huge);
    assert.notEqual(spare.take(1000 * kb), huge);
  });
});
