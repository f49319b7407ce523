import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { metricsPage, metricsPageFile } from "./metrics-page.mjs";

test("docs/metrics.md is what the metrics say; if not: npm run docs -w @xdskit/admin", async () => {
  assert.equal(readFileSync(metricsPageFile, "utf8"), await metricsPage());
});
