import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { errorsPage, errorsPageFile } from "./errors-page.mjs";

test("docs/errors.md is what the error codes say; if not: npm run docs -w xdskit", () => {
  assert.equal(readFileSync(errorsPageFile, "utf8"), errorsPage());
});
