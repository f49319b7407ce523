import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { PackageFacts } from "./facts.js";
import { parsePackage } from "./parse-facts.js";

/** The table's folder, beside both `src/` and `dist/`. */
export const tableFolder = new URL("../../schema/", import.meta.url);
/** Below it, one file for each proto package, named after it. */
export const packageFolder = new URL("packages/", tableFolder);

/** The table of Envoy's API. Throws a plain error with file and line if it is malformed. */
export function readTable(folder: URL = packageFolder): readonly PackageFacts[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".txt"));
  return names.sort().map((name) => {
    const file = new URL(name, folder);
    const facts = parsePackage(readFileSync(file, "utf8"), fileURLToPath(file));
    if (name !== `${facts.name}.txt`) throw new Error(`${fileURLToPath(file)} has the package ${facts.name}`);
    return facts;
  });
}
