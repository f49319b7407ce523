// The processor time of each process of a run, with that of the programs that it started and that have ended. Unlike
// the time on the clock, it hardly depends on what else runs.
import { readFileSync } from "node:fs";
import { leave, leftBy } from "./left-by-process.mjs";

/** Leaves the time of this process for the runner when it ends. */
export function leaveTime() {
  process.on("exit", () => leave("time", processorSeconds()));
}

/** In seconds; undefined if the process did not reach its end. */
export function timeLeft(file) {
  return leftBy(file, "time");
}

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
