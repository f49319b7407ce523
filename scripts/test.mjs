// Runs tests with node:test: `node scripts/test.mjs [--built] [--spec] [PATH…]`, every `*.test.ts` below the paths
// (default: all of the project).
//   --bound=SECONDS  for each process of tests; by default ten minutes
//   --all    also the files that look further, and random tests in their usual length. So do CI, and named paths
//   --built  runs what `npm run build` compiled, which saves a third of the time; without it nothing must be built
//   --lint   lints meanwhile, and fails if that does
//   --list   prints the files that it would run
//   --record keeps how long each process took: longer ones begin first in later runs
//   --spec   a line for each test, as for a single file; several files have a line each
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { compiledTest } from "./testing/compiled-tests.mjs";
import { leftOut, runLater, shortEffort, whatWasLeftOut } from "./testing/left-out.mjs";
import { lintMeanwhile } from "./testing/lint-meanwhile.mjs";
import { testFiles } from "./testing/test-files.mjs";

const all = ["packages", "dashboard", "fuzz", "e2e", "bench", "examples", "scripts"];

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const named = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const known = /^--(?:all|bound=\d+|built|lint|list|record|spec)$/;
const unknown = flags.filter((flag) => !known.test(flag));
const isCi = !["", "0", "false", undefined].includes(process.env.CI);
const isShort = named.length === 0 && !flags.includes("--all") && !isCi;
const found = (named.length > 0 ? named : all).flatMap(testFiles).sort();
const isWhole = named.length > 0 || flags.includes("--all");
const isLater = (file) => isCi && !isWhole && runLater.has(file);
const files = found.filter((file) => !(isShort && leftOut.has(file)) && !isLater(file));
if (unknown.length > 0 || files.length === 0) {
  console.error(unknown.length > 0 ? `unknown option: ${unknown.join(" ")}` : "no test files found");
  process.exit(1);
}

if (flags.includes("--list")) {
  console.log(files.join("\n"));
  process.exit(0);
}

const isBuilt = flags.includes("--built");
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// The condition makes packages import each other's TypeScript.
const loading = isBuilt
  ? ["--import", here("testing/load-typescript.mjs")]
  : ["--conditions=@xdskit/source", "--import", "tsx", "--import", here("testing/load-sources.mjs")];
const many = flags.includes("--record") ? "record" : "files";
const reporter = flags.includes("--spec") || files.length === 1 ? "spec" : many;
// Many tests wait most of the time, for timers and for programs that start: some processes more than there are
// processors keep all of these busy. Those of the short run seldom start others.
const concurrency = availableParallelism() + (isShort ? 3 : 1);
console.log(`Running ${files.length} test files${isBuilt ? " as built" : ""}, ${concurrency} at a time`);
const [, bound = ""] = /^--bound=(.*)$/m.exec(flags.join("\n")) ?? [];
const run = isBuilt ? files.map(compiledTest) : files;
const child = spawn(
  process.execPath,
  [...loading, here("testing/run-files.mjs"), String(concurrency), reporter, bound, ...run],
  { stdio: "inherit", env: isShort ? { EFFORT: String(shortEffort), ...process.env } : process.env },
);
const lint = flags.includes("--lint") ? lintMeanwhile() : undefined;
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    lint?.end(signal);
    child.kill(signal);
  });
child.on("exit", async (code, signal) => {
  if (isShort) console.log(whatWasLeftOut());
  const isClean = signal || (await lint?.passed) !== false;
  if (!isClean) console.log("Lint failed: see above");
  process.exit(signal ? 1 : code || (isClean ? 0 : 1));
});
