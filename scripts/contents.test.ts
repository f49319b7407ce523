import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { contents, contentsFile, contentsPage, contentsPageFile } from "./contents.mjs";

const sections = "Start, Tutorials, Change, Look, Run it, Explain, Reference, Assurance, Contribute";

test("the manual has nine sections, and each page of docs/ stands in exactly one: add a new one to docs/contents.json", () => {
  assert.equal(
    contents()
      .map(({ section }) => section)
      .join(", "),
    sections,
  );
  const listed = contents().flatMap(({ pages }) => pages.map(({ page }) => page));
  assert.deepEqual(
    listed.filter((page, index) => listed.indexOf(page) !== index || !existsSync(new URL(page, contentsFile))),
    [],
    "twice, or not there",
  );
  const written = readdirSync(new URL(".", contentsFile)).filter(
    (name) => name.endsWith(".md") && name !== "README.md",
  );
  assert.deepEqual(listed.filter((page) => !page.startsWith("../")).sort(), written.sort());
});

test("docs/README.md is what docs/contents.json says; if not: npm run contents", () => {
  assert.equal(readFileSync(contentsPageFile, "utf8"), contentsPage());
});
