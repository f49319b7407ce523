import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What programs import of each package, without Envoy's messages, which are generated.
 *
 * @param {string} packages the folder of all packages
 * @param {"types" | "@xdskit/source"} condition which file of an entry point: its compiled declarations, or its source
 * @returns {readonly { folder: string, name: string, entries: readonly (readonly [entry: string, file: string])[] }[]}
 */
export function entryPoints(packages, condition) {
  return readdirSync(packages)
    .sort()
    .map((folder) => {
      const { name, exports } = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8"));
      const entries = Object.entries(exports)
        .filter(([entry, door]) => !entry.includes("*") && door[condition] !== undefined)
        .map(([entry, door]) => [name + entry.slice(1), join(packages, folder, door[condition])]);
      return { folder, name, entries };
    });
}
