import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFieldPath } from "./field-path.js";

test("a path reads as people write it", () => {
  assert.equal(formatFieldPath(["endpoints", 0, "metadata", { key: "a b" }]), 'endpoints[0].metadata["a b"]');
  assert.equal(formatFieldPath([]), undefined);
});

test("a value that stands in a field's place is not shown", () => {
  const key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----\n";
  assert.equal(formatFieldPath(["private_key", key]), "private_key.…");
  assert.equal(formatFieldPath(["private_key", "M".repeat(200)]), "private_key.…");
});
