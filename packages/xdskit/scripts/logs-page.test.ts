import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { logsPage, logsPageFile } from "./logs-page.mjs";

test("docs/logs.md is what the table of the log's events says; if not: npm run docs -w xdskit", () => {
  assert.equal(readFileSync(logsPageFile, "utf8"), logsPage());
});
