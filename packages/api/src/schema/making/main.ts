import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { extensionsFile, formatExtensions } from "../extensions.js";
import { packageFolder, tableFolder } from "../table.js";
import { askEnvoy } from "./envoy-extensions.js";
import { formatModules, modulesUpTo, readModules } from "./go-modules.js";
import { makeTable } from "./make-table.js";

const usage = `npm run schema -- --from v1.40.0      makes packages/api/schema of Envoy's API at that version
npm run schema -- --extensions PATH   asks the Envoy at PATH which extensions it has: packages/api/schema/extensions.txt
npm run schema -- --check             says whether it is what the modules in packages/api/schema/modules.txt make`;

const modulesFile = new URL("modules.txt", tableFolder);
const option = { type: "string" } as const;
const { values } = parseArgs({ options: { from: option, check: { type: "boolean" }, extensions: option } });
const { from, check = false, extensions } = values;
if (Object.keys(values).length !== 1) throw new Error(`usage:\n${usage}`);
if (extensions !== undefined) {
  const self = await askEnvoy(extensions);
  writeFileSync(extensionsFile, formatExtensions(self.version, self.extensions));
  console.log(`${self.extensions.length} extensions of Envoy ${self.version}`);
  process.exit();
}

const modules = from === undefined ? readModules(modulesFile) : modulesUpTo(from);
const table = makeTable(modules);
const existing = existsSync(packageFolder) ? readdirSync(packageFolder).map((name) => `packages/${name}`) : [];
const extra = existing.filter((name) => !table.has(name));
const different = [...table].filter(([name, text]) => {
  const file = new URL(name, tableFolder);
  return !existsSync(file) || readFileSync(file, "utf8") !== text;
});

if (check) {
  for (const name of extra) console.error(`${name} is of no package`);
  for (const [name] of different) console.error(`${name} is not what the modules make`);
  if (extra.length + different.length > 0) throw new Error("packages/api/schema: run npm run schema -- --from …");
} else {
  mkdirSync(packageFolder, { recursive: true });
  for (const name of extra) rmSync(new URL(name, tableFolder));
  for (const [name, text] of different) writeFileSync(new URL(name, tableFolder), text);
  writeFileSync(modulesFile, formatModules(modules));
}
console.log(`${table.size} files, ${different.length} of them ${check ? "different" : "written"}`);
