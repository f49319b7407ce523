// Runs test files in processes that get the options of this one: see `../test.mjs`, which starts it.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { namesSources } from "./compiled-tests.mjs";
import { fileProgress, testsOf } from "./file-progress.mjs";
import { keepDurations, knownDurations, longestFirst } from "./longest-first.mjs";
import { originalPlaces } from "./original-places.mjs";
import { processFiles } from "./process-files.mjs";
import { collectTimes } from "./processor-time.mjs";
import { sharedProcesses } from "./shared-processes.mjs";

const [concurrency, reporter, ...files] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "xdskit-tests-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
// Servers keep their state there, and not among the user's files.
process.env.XDG_STATE_HOME = join(folder, "state");
const processes =
  reporter === "spec"
    ? { run: files, names: new Map(), bundles: new Map() }
    : await processFiles(sharedProcesses(files, await findMissing()), folder);
const times = join(folder, "times");
mkdirSync(times);
collectTimes(times);
// See `load-typescript.mjs`.
process.env.XDSKIT_TESTS_NAMING_SOURCES = processes.run
  .filter(namesSources)
  .map((file) => resolve(file))
  .join("\n");
const testsOfProcess = (file) => testsOf(file, processes.names);
const events = run({
  files: longestFirst(processes.run, testsOfProcess, knownDurations()).map((file) => resolve(file)),
  concurrency: Number(concurrency),
  // A file that does not end, such as one whose test failed before it closed its server, fails and holds up no other.
  timeout: 20 * 60_000,
});
events.on("test:fail", () => {
  process.exitCode = 1;
});
const took = [];
const toSources = originalPlaces(processes.bundles, folder);
const report = reporter === "spec" ? new spec() : fileProgress(processes.run.length, processes.names, took, toSources);
const told = events.compose(report);
told.on("end", () => {
  if (reporter === "record") keepDurations(took);
});
told.pipe(process.stdout);

/** Tells whether a peer of the end-to-end tests is missing. Before they are built, none counts as missing. */
async function findMissing() {
  const file = new URL("../../e2e/dist/harness/basics/peers.js", import.meta.url);
  if (!existsSync(file)) return () => false;
  const { findPeer } = await import(file.href);
  return (peer) => findPeer(peer) === undefined;
}
