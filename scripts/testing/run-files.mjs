// Runs test files, each in a separate process that gets the options of this one: see `../test.mjs`, which starts it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileProgress } from "./file-progress.mjs";

const [concurrency, reporter, ...files] = process.argv.slice(2);
// Servers keep their state there, and not among the user's files.
process.env.XDG_STATE_HOME = mkdtempSync(join(tmpdir(), "xdskit-state-"));
process.on("exit", () => rmSync(process.env.XDG_STATE_HOME, { recursive: true, force: true }));
const events = run({
  files: files.map((file) => resolve(file)),
  concurrency: Number(concurrency),
  // A file that does not end, such as one whose test failed before it closed its server, fails and holds up no other.
  timeout: 20 * 60_000,
});
events.on("test:fail", () => {
  process.exitCode = 1;
});
events.compose(reporter === "spec" ? new spec() : fileProgress(files.length)).pipe(process.stdout);
