// Runs every `*.test.ts` below the folders named (default: packages, fuzz, e2e, bench, examples, scripts) with node:test.
// Node 20 has no globs for `--test`, and a shell's differ, so the files are found here.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const skipped = new Set(["node_modules", "dist", "gen"]);
const all = ["packages", "fuzz", "e2e", "bench", "examples", "scripts"];

function testFiles(path) {
  if (path.endsWith(".test.ts")) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const child = join(path, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : testFiles(child);
    return child.endsWith(".test.ts") ? [child] : [];
  });
}

const named = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith("--"));
const files = (named.length > 0 ? named : all).flatMap(testFiles).sort();
if (files.length === 0) {
  console.error("no test files found");
  process.exit(1);
}
// Each file is a process of its own, and many wait for most of their time: for timers, and for peers that start.
const concurrency = Math.max(2, availableParallelism());
console.log(`${files.length} test files, ${concurrency} at a time`);
// The condition `@xdskit/source` makes packages import each other's TypeScript, so unit tests need no build.
const child = spawn(
  process.execPath,
  [
    "--conditions=@xdskit/source",
    "--import",
    "tsx",
    "--test",
    `--test-concurrency=${concurrency}`,
    // A file that does not end, such as one whose test failed before it closed its server, fails and holds up nobody.
    `--test-timeout=${20 * 60_000}`,
    "--test-reporter=spec",
    ...flags,
    ...files,
  ],
  { stdio: "inherit" },
);
child.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
