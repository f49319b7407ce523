// Writes docs/protocol.md: npm run docs -w @xdskit/protocol
import { writeFileSync } from "node:fs";
import { readCases, readClientCases, readParts, root } from "./rule-files.js";
import { rulePage } from "./rule-page.js";

writeFileSync(`${root}docs/protocol.md`, rulePage(readParts(), readCases(), readClientCases()));
