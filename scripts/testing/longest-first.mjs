import { readFileSync, writeFileSync } from "node:fs";

/** Seconds that processes took, by their first test file. Short ones are left out. */
const table = new URL("durations.json", import.meta.url);
const leastSeconds = 3;

/** Reads what `keepDurations` kept. */
export function knownDurations() {
  return new Map(Object.entries(JSON.parse(readFileSync(table, "utf8"))));
}

/** Keeps them for later runs: `node scripts/test.mjs --all --built --record`. */
export function keepDurations(seconds) {
  const kept = [...seconds].filter(([, each]) => each >= leastSeconds).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = kept.map(([file, each]) => `  ${JSON.stringify(file)}: ${Math.round(each)}`);
  writeFileSync(table, `{\n${lines.join(",\n")}\n}\n`);
}

/**
 * Puts long ones first, so that none is left alone at the end, and spreads those that mostly wait, for the programs
 * that they start, evenly among those that mostly compute: so the processors are busy all the time. `testOf` tells the
 * first test of a file, and `durations` the seconds that it took.
 */
export function longestFirst(files, testOf, durations) {
  const secondsOf = (file) => durations.get(testOf(file)) ?? 0;
  const ordered = files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const waiting = ordered.filter((file) => testOf(file).startsWith("e2e/"));
  const computing = ordered.filter((file) => !testOf(file).startsWith("e2e/"));
  const placed = (each, index, all) => ({ file: each, at: (index + 0.5) / all.length });
  return [...waiting.map(placed), ...computing.map(placed)].sort((a, b) => a.at - b.at).map(({ file }) => file);
}
