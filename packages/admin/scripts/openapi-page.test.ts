// From sources: the script imports them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { openApiPage, openApiPageFile } from "./openapi-page.mjs";

test("docs/openapi.md is what the OpenAPI document says; if not: npm run docs -w @xdskit/admin", async () => {
  assert.equal(readFileSync(openApiPageFile, "utf8"), await openApiPage());
});
