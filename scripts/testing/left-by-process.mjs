// What each process of a run leaves for the runner, in a folder, as JSON.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Environment variables: the process that runs the tests, and the folder. */
const runner = "XDSKIT_TESTS_RUNNER";
const folder = "XDSKIT_TESTS_LEFT";

/** From now on, processes that this one starts leave there what it wants to know. */
export function collectIn(path) {
  process.env[runner] = String(process.pid);
  process.env[folder] = path;
}

/** Whether the runner started this process: those that tests start have the same environment. */
export const isOfRunner = () => process.env[runner] === String(process.ppid);

/** Leaves something about this process. */
export function leave(what, value) {
  try {
    writeFileSync(pathOf(process.argv[1], what), JSON.stringify(value));
  } catch {
    // What is missing fails no test.
  }
}

/** What the process of that file left; undefined if it did not, or not yet. */
export function leftBy(file, what) {
  try {
    return JSON.parse(readFileSync(pathOf(file, what), "utf8"));
  } catch {
    return undefined;
  }
}

/** Names of files have a limit. */
const pathOf = (file, what) => join(process.env[folder], `${file.replaceAll(/[^\w.-]/g, "+").slice(-240)}.${what}`);
