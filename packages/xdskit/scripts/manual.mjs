// Writes the pages that `man` in package.json names, from what `--help` shows: after the modules are compiled.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commands } from "../dist/commands.js";
import { programFor } from "../dist/main.js";
import { manual } from "../dist/manual/manual.js";

const packageDir = fileURLToPath(new URL("..", import.meta.url));
const folder = join(packageDir, "dist/man");
const { version } = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"));
const nowhere = { out() {}, err() {} };
const programOf = (name) => programFor(name === undefined ? [] : [name], nowhere, () => {});
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [file, page] of await manual(commands, programOf, version)) writeFileSync(join(folder, file), page);
