// The processor time of each process of a run, with that of the programs that it started and that have ended. Unlike
// the time on the clock, it hardly depends on what else runs.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Environment variables: the process that runs the tests, and the folder for the times. */
const runner = "XDSKIT_TESTS_RUNNER";
const folder = "XDSKIT_TESTS_TIMES";

/** From now on, processes that this one starts leave their times in a folder. */
export function collectTimes(path) {
  process.env[runner] = String(process.pid);
  process.env[folder] = path;
}

/** Leaves the time of this process there when it ends, if the runner started it. */
export function leaveTime() {
  if (process.env[runner] !== String(process.ppid)) return;
  const path = timeOf(process.env[folder], process.argv[1]);
  process.on("exit", () => {
    try {
      writeFileSync(path, String(processorSeconds()));
    } catch {
      // A time that is missing fails no test.
    }
  });
}

/** In seconds; undefined if the process did not reach its end. */
export function timeLeft(file) {
  try {
    return Number(readFileSync(timeOf(process.env[folder], file), "utf8"));
  } catch {
    return undefined;
  }
}

/** The name of a file in the folder; names have a limit. */
const timeOf = (path, file) => join(path, file.replaceAll(/[^\w.-]/g, "+").slice(-250));

function processorSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000 + secondsOfChildren();
}

/** Only Linux tells that of a process while it runs: fields 16 and 17 of its `stat`, in hundredths of a second. */
function secondsOfChildren() {
  try {
    const text = readFileSync("/proc/self/stat", "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}
