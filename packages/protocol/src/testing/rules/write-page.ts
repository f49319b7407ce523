// Writes docs/protocol.md and docs/protocol: npm run docs -w @xdskit/protocol
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readCases, readChapters, readClientCases, root } from "./rule-files.js";
import { rulePages } from "./rule-page.js";

rmSync(`${root}docs/protocol`, { recursive: true, force: true });
mkdirSync(`${root}docs/protocol`);
for (const [file, text] of rulePages(readChapters(), readCases(), readClientCases())) {
  writeFileSync(`${root}${file}`, text);
}
