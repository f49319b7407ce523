import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { commandsPage, commandsPageFile } from "./commands-page.mjs";

test("docs/commands.md is what the commands say; if not: npm run docs -w xdskit", async () => {
  assert.equal(readFileSync(commandsPageFile, "utf8"), await commandsPage());
});
