// Bounds each process of a run in time, and says of one that does not end which of its tests are running.
import { relative } from "node:path";
import { testsOf } from "./file-progress.mjs";
import { endProcess, whatKeeps } from "./unended-process.mjs";

/** Seconds. The longest of the suite need two minutes on a busy machine. */
const usualBound = 600;

/** `given`: of this run alone. Random tests that play longer have longer. */
export const boundOf = (given) => Number(given ?? usualBound * Math.max(1, Number(process.env.EFFORT ?? 1)));

/**
 * Ends each process that does not end within `seconds`, and says so by `tell`: which tests are running, and what keeps
 * it. `names`, `toSources`: as for `fileProgress`.
 */
export function boundProcesses(events, { seconds, names, toSources, tell }) {
  const timers = new Map();
  const running = new Map();
  let allEnd;
  events.on("test:dequeue", (data) => {
    if (data.name !== data.file) running.set(keyOf(data), data);
    else
      timers.set(
        data.file,
        setTimeout(() => void end(data.file, `has not ended after ${seconds} s`), seconds * 1000),
      );
  });
  events.on("test:complete", (data) => {
    if (data.name !== data.file) running.delete(keyOf(data));
    else {
      clearTimeout(timers.get(data.file));
      timers.delete(data.file);
    }
  });
  return {
    /** Ends all processes at once. A terminal sends its signal to `test.mjs` and here: only the first call counts. */
    endAll() {
      allEnd ??= Promise.all([...timers.keys()].map((file) => end(file, "had not ended")));
      return allEnd;
    },
  };

  async function end(file, what) {
    const kept = await whatKeeps(file);
    const tests = await testsIn(file);
    if (!timers.has(file)) return;
    const lines = tests.length > 0 ? tests : ["none of its tests is running"];
    tell([`${testsOf(file, names).join(" ")} ${what}:`, ...lines, ...kept].join("\n  "));
    endProcess(file);
  }

  /** Where several processes share a bundle, the place of a test tells whose it is not. */
  async function testsIn(file) {
    const others = [...timers.keys()].filter((other) => other !== file).flatMap((other) => testsOf(other, names));
    const lines = [];
    for (const { name, file: within, line, column, nesting } of running.values()) {
      const place = await toSources(`${within}:${line}:${column}`);
      const [path] = testsOf(place.replace(/(?::\d+){2}$/, ""), new Map());
      if (!others.includes(path)) lines.push(`${"  ".repeat(nesting)}running: ${name} (${relative("", place)})`);
    }
    return lines;
  }
}

const keyOf = ({ name, file, line, column, nesting }) => JSON.stringify([name, file, line, column, nesting]);
