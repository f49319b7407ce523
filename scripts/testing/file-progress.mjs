// A reporter of node:test for many files: a line for each file that ended, and only those of its tests that failed or
// were skipped.
import { relative } from "node:path";
import { spec } from "node:test/reporters";

/**
 * `count`: the number of processes. `names`: what those that several files share are called. The last lines are
 * node:test's counts, and the failures again.
 */
export function fileProgress(count, names) {
  const started = performance.now();
  return async function* report(events) {
    const details = new spec();
    let ended = 0;
    for await (const event of events) {
      // The reports of a file wait for those of the files before it; its end is reported at once.
      const { type, data } = event;
      if (type === "test:complete" && data.name === data.file) {
        ended += 1;
        yield `${progress(ended)} ${nameOf(data.file)}, ${seconds(data.details.duration_ms)}\n`;
      }
      details.write(event);
      const text = details.read();
      if (text !== null && isTold(event)) yield text;
    }
    details.end();
    for await (const text of details) yield text;
  };

  function nameOf(file) {
    return sourceOf(names.get(file) ?? relative(process.cwd(), file));
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

/** Its name on the command line. */
const sourceOf = (file) => file.replace(/(^|\/)dist\/(\S*)\.js\b/, "$1src/$2.ts");

const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(1)} s`;
