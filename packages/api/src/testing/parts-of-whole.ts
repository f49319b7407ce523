import assert from "node:assert/strict";
import type { FieldStep } from "../errors/field-path.js";
import type { SourceDocument } from "../text/source-document.js";

/**
 * A list that was read in several parts holds what it holds as a whole, and each item stands where it stands, and so
 * does what a path leads to in it.
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
