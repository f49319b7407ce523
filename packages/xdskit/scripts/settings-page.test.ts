import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settingWords } from "../src/settings/setting-words.ts";
import { settingsPage, settingsPageFile } from "./settings-page.mjs";

test("docs/settings.md is what the settings say; if not: npm run docs -w xdskit", () => {
  const page = settingsPage();
  assert.equal(readFileSync(settingsPageFile, "utf8"), page);
  assert.doesNotMatch(page, /^\| `.* \| {2}\|$/m, "a key without words: write them into setting-words.ts");
  for (const [key, words] of Object.entries(settingWords)) assert.ok(page.includes(words), `nobody reads ${key}`);
});
