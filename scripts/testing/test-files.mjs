import { readdirSync } from "node:fs";
import { join } from "node:path";

const skipped = new Set(["node_modules", "dist", "gen"]);

/** The `*.test.ts` at or below a path. Node 20 has no globs for tests, and a shell's differ. */
export function testFiles(path) {
  if (path.endsWith(".test.ts")) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = join(path, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : testFiles(child);
    return child.endsWith(".test.ts") ? [child] : [];
  });
}
