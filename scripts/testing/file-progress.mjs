// A reporter of node:test for many files: a line for each file that ended, with the time that it took and the time that
// it kept processors busy, and only those of its tests that failed or were skipped.
import { relative } from "node:path";
import { spec } from "node:test/reporters";
import { timeLeft } from "./processor-time.mjs";

/**
 * `count`: the number of processes. `names`: the tests of those that several share. `took`: gets the test files and the
 * seconds of each process. `toSources`: see `original-places.mjs`. The last lines are node:test's counts,
 * the failures again, and the sum.
 */
export function fileProgress(count, names, took, toSources) {
  const started = performance.now();
  let total = 0;
  return async function* report(events) {
    const details = new spec();
    let ended = 0;
    for await (const event of events) {
      // The reports of a file wait for those of the files before it; its end is reported at once.
      const { type, data } = event;
      if (type === "test:complete" && data.name === data.file) {
        ended += 1;
        const { duration_ms: ms } = data.details;
        const files = testsOf(data.file, names);
        took.push({ files, seconds: ms / 1000 });
        const [file] = files;
        const more = files.length === 1 ? "" : ` and ${files.length - 1} more`;
        yield `${progress(ended)} ${file}${more}, ${seconds(ms)}${busy(data.file)}\n`;
      }
      details.write(event);
      const text = details.read();
      if (text !== null && isTold(event)) yield await toSources(String(text));
    }
    details.end();
    for await (const text of details) yield await toSources(String(text));
    yield `All together they kept processors busy for ${total.toFixed(0)} s\n`;
  };

  function busy(file) {
    const time = timeLeft(file);
    total += time ?? 0;
    return time === undefined ? "" : `, busy ${time.toFixed(1)} s`;
  }

  function progress(ended) {
    return `[${String(ended).padStart(String(count).length)}/${count} ${seconds(performance.now() - started)}]`;
  }
}

/** Diagnostics of no file are the counts. */
function isTold({ type, data }) {
  if (type === "test:diagnostic") return data.file === undefined;
  return type === "test:fail" || type === "test:stderr" || type === "test:stdout";
}

/** The tests of a process, as on the command line. */
export function testsOf(file, names) {
  return (names.get(file) ?? [relative(process.cwd(), file)]).map(sourceOf);
}

const sourceOf = (file) => file.replace(/(^|\/)dist\/(\S*)\.js\b/, "$1src/$2.ts");

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;
