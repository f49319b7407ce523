import { readFileSync, writeFileSync } from "node:fs";

/**
 * Seconds of each test file. Files that share a process have equal parts of its time: what a process will take can so
 * be told even if others are in it by then.
 */
const table = new URL("durations.json", import.meta.url);

/** What a test file counts that nobody timed. */
const unknownSeconds = 5;

/** Reads what `keepDurations` kept. */
export function knownDurations() {
  return new Map(Object.entries(JSON.parse(readFileSync(table, "utf8"))));
}

/**
 * Keeps them for later runs: `node scripts/test.mjs --all --built --record`. `took`: of each process, its test files
 * and its seconds.
 */
export function keepDurations(took) {
  const kept = took.flatMap(({ files, seconds }) => files.map((file) => [file, seconds / files.length]));
  const lines = kept
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, each]) => `  ${JSON.stringify(file)}: ${each.toFixed(1)}`);
  writeFileSync(table, `{\n${lines.join(",\n")}\n}\n`);
}

/**
 * Puts long ones first, so that none is left alone at the end, and spreads those that mostly wait, for the programs
 * that they start, evenly among those that mostly compute: so the processors are busy all the time. `testsOf` tells the
 * tests of a file, and `durations` the seconds that each took. One that nobody timed may be long.
 */
export function longestFirst(files, testsOf, durations) {
  const secondsOf = (file) => testsOf(file).reduce((sum, test) => sum + (durations.get(test) ?? unknownSeconds), 0);
  const ordered = files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const waiting = ordered.filter((file) => testsOf(file)[0].startsWith("e2e/"));
  const computing = ordered.filter((file) => !testsOf(file)[0].startsWith("e2e/"));
  const placed = (each, index, all) => ({ file: each, at: (index + 0.5) / all.length });
  return [...waiting.map(placed), ...computing.map(placed)].sort((a, b) => a.at - b.at).map(({ file }) => file);
}
