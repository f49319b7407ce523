// Runs test files in processes that get the options of this one: see `../test.mjs`, which starts it.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { boundOf, boundProcesses } from "./bounded-processes.mjs";
import { namesSources } from "./compiled-tests.mjs";
import { fileProgress, testsOf } from "./file-progress.mjs";
import { collectIn } from "./left-by-process.mjs";
import { keepDurations, knownDurations, longestFirst } from "./longest-first.mjs";
import { originalPlaces } from "./original-places.mjs";
import { processFiles } from "./process-files.mjs";
import { sharedProcesses } from "./shared-processes.mjs";

const [concurrency, reporter, bound, ...files] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "xdskit-tests-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
// Servers keep their state there, and not among the user's files.
process.env.XDG_STATE_HOME = join(folder, "state");
const processes =
  reporter === "spec"
    ? { run: files, names: new Map(), bundles: new Map() }
    : await processFiles(sharedProcesses(files, await findMissing()), folder);
const left = join(folder, "left");
mkdirSync(left);
collectIn(left);
// See `load-typescript.mjs`.
process.env.XDSKIT_TESTS_NAMING_SOURCES = processes.run
  .filter(namesSources)
  .map((file) => resolve(file))
  .join("\n");
const seconds = boundOf(bound === "" ? undefined : bound);
const testsOfProcess = (file) => testsOf(file, processes.names);
const events = run({
  files: longestFirst(processes.run, testsOfProcess, knownDurations()).map((file) => resolve(file)),
  concurrency: Number(concurrency),
  // Whatever a process that was ended has left behind, and keeps its output open, holds up nothing.
  timeout: (seconds + 60) * 1000,
});
const failed = [];
events.on("test:fail", (data) => {
  process.exitCode = 1;
  if (data.details.error?.failureType !== "subtestsFailed") failed.push(data);
});
const took = [];
const toSources = originalPlaces(processes.bundles, folder);
const bounded = boundProcesses(events, {
  seconds,
  names: processes.names,
  toSources,
  tell: (text) => console.log(text),
});
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, async () => {
    await bounded.endAll();
    process.exit(1);
  });
const report = reporter === "spec" ? new spec() : fileProgress(processes.run.length, processes.names, took, toSources);
const told = events.compose(report);
told.on("end", async () => {
  if (reporter === "record") keepDurations(took);
  const { XDSKIT_TESTS_FAILURES: path } = process.env;
  if (path !== undefined) writeFileSync(path, JSON.stringify(await Promise.all(failed.map(titleOf))));
});
told.pipe(process.stdout);

/** Of a test, or of a process that failed as a whole. */
async function titleOf({ name, file, line, column }) {
  if (name === file) return testsOfProcess(file).join(" ");
  const [path] = testsOf((await toSources(`${file}:${line}:${column}`)).replace(/(?::\d+){2}$/, ""), new Map());
  return `${path}: ${name}`;
}

/** Tells whether a peer of the end-to-end tests is missing. Before they are built, none counts as missing. */
async function findMissing() {
  const file = new URL("../../e2e/dist/harness/basics/peers.js", import.meta.url);
  if (!existsSync(file)) return () => false;
  const { findPeer } = await import(file.href);
  return (peer) => findPeer(peer) === undefined;
}
