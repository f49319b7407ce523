import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Case, describeMode, parseTranscript } from "./transcript.js";
import { compareCase } from "./transcript-compare.js";
import { missingTags } from "./transcript-coverage.js";
import { rewriteTranscript } from "./transcript-rewrite.js";
import { runCase } from "./transcript-run.js";
import { missingTypes } from "./type-coverage.js";

const folder = fileURLToPath(new URL("../../../transcripts/", import.meta.url));
/** Set UPDATE_TRANSCRIPTS=1 to write the code's behavior into the files; then review the difference line by line. */
const update = process.env.UPDATE_TRANSCRIPTS === "1";

const files = readdirSync(folder).filter((name) => name.endsWith(".txt"));
const cases: Case[] = [];
for (const file of files.sort()) {
  const text = readFileSync(`${folder}${file}`, "utf8");
  const parsed = parseTranscript(file, text);
  cases.push(...parsed);
  if (update) {
    const rewritten = rewriteTranscript(text, parsed, (one) => {
      const [mode] = one.modes;
      return mode === undefined ? [] : runCase(one, mode);
    });
    if (rewritten !== text) writeFileSync(`${folder}${file}`, rewritten);
    cases.splice(-parsed.length, parsed.length, ...parseTranscript(file, rewritten));
  }
}

for (const one of cases) {
  for (const mode of one.modes) {
    const tags = one.tags.map(({ list, number }) => `${list} ${number}`).join(", ");
    test(`${tags}: ${one.title} [${describeMode(mode)}]`, () => compareCase(one, mode, runCase(one, mode)));
  }
}

test("every rule that concerns the server has a transcript", () => {
  assert.deepEqual(missingTags(cases.flatMap(({ tags }) => tags)), []);
});

test("every type has a transcript on ADS and on its own service, in each variant and API version that it has", () => {
  assert.deepEqual(missingTypes(cases), []);
});
