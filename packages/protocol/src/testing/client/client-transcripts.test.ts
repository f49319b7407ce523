import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Case, describeMode, parseTranscript } from "../transcripts/transcript.js";
import { compareCase } from "../transcripts/transcript-compare.js";
import { missingClientRules } from "../transcripts/transcript-coverage.js";
import { rewriteTranscript } from "../transcripts/transcript-rewrite.js";
import { runClientCase } from "./client-run.js";

const folder = fileURLToPath(new URL("../../../transcripts/client/", import.meta.url));
/** Set UPDATE_TRANSCRIPTS=1 to write the code's behavior into the files; then review the difference line by line. */
const update = process.env.UPDATE_TRANSCRIPTS === "1";

const cases: Case[] = [];
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".txt"))
  .sort()) {
  const name = `client/${file}`;
  let text = readFileSync(`${folder}${file}`, "utf8");
  if (update) {
    const rewritten = rewriteTranscript(text, parseTranscript(name, text, "client"), (one) => {
      const [mode] = one.modes;
      return mode === undefined ? [] : runClientCase(one, mode);
    });
    if (rewritten !== text) writeFileSync(`${folder}${file}`, rewritten);
    text = rewritten;
  }
  cases.push(...parseTranscript(name, text, "client"));
}

for (const one of cases) {
  for (const mode of one.modes) {
    const tags = one.tags.map(({ list, number }) => `${list} ${number}`).join(", ");
    test(`${tags}: ${one.title} [${describeMode(mode)}]`, () => compareCase(one, mode, runClientCase(one, mode)));
  }
}

test("every rule that concerns the client's end has a transcript", () => {
  assert.deepEqual(missingClientRules(cases.flatMap(({ tags }) => tags)), []);
});
