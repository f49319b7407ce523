import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, revisionId } from "./table-keys.js";

test("no revision has an id that a command line takes for an option", () => {
  const texts = Array.from({ length: 500 }, (_, index) => `text ${index}`);
  assert.ok(texts.some((text) => hashOf(text).startsWith("-")));
  const ids = texts.map(revisionId);
  assert.deepEqual(
    ids.filter((id) => !/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/.test(id)),
    [],
  );
  assert.equal(new Set(ids).size, texts.length);
});
