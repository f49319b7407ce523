import assert from "node:assert/strict";
import type { FieldStep } from "../errors/field-path.js";
import type { SourceDocument } from "../text/source-document.js";

/**
 * Checks that a list read in parts equals the list read as a whole: the same items at the same places, and the same
 * places for every path in them.
 */
export function assertPartsOfWhole(
  parts: readonly SourceDocument[],
  whole: SourceDocument | undefined,
  path: readonly FieldStep[],
): void {
  assert.ok(parts.length > 3);
  assert.deepEqual(
    parts.flatMap(({ value }) => value as object[]),
    whole?.value,
  );
  let index = 0;
  for (const part of parts) {
    const { length } = part.value as object[];
    for (const inner of [0, length >> 1, length - 1]) {
      assert.equal(part.locate([inner]), whole?.locate([index + inner]));
      assert.equal(part.locate([inner, ...path]), whole?.locate([index + inner, ...path]));
    }
    index += length;
  }
}
