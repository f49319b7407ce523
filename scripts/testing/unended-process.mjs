// What a process of tests is at that does not end: it leaves its id when it starts, and answers a signal with Node's
// report of itself (https://nodejs.org/docs/latest-v20.x/api/report.html).
import { setTimeout as sleep } from "node:timers/promises";
import { leave, leftBy } from "./left-by-process.mjs";

const signal = "SIGUSR2";
const answerSeconds = 5;

/** Called first in each process of tests. */
export function answerRunner() {
  leave("id", process.pid);
  process.on(signal, () => {
    process.report.excludeNetwork = true;
    leave("report", process.report.getReport());
  });
}

/** Lines that say what the event loop of a process waits for. */
export async function whatKeeps(file) {
  if (!signalled(file, signal)) return [];
  for (let tries = 0; tries < answerSeconds * 10; tries += 1) {
    await sleep(100);
    const handles = leftBy(file, "report")?.libuv;
    if (handles !== undefined) return handles.filter(isHolding).map(lineOf);
  }
  return ["it does not come back to its event loop: it computes, or waits in a call of the system"];
}

/** Ends a process, whatever it does with other signals. */
export function endProcess(file) {
  signalled(file, "SIGKILL");
}

function signalled(file, which) {
  const id = leftBy(file, "id");
  try {
    return id !== undefined && process.kill(id, which);
  } catch {
    return false;
  }
}

/** An event loop ends once none of these is left. */
const isHolding = ({ is_active: isActive, is_referenced: isReferenced }) => isActive && isReferenced;

function lineOf({ type, pid, filename, localEndpoint, remoteEndpoint, firesInMsFromNow }) {
  const ends = [localEndpoint, remoteEndpoint].filter(Boolean);
  const parts = [
    type,
    pid === undefined ? undefined : `process ${pid}`,
    filename,
    ends.map(({ ip4, ip6, host, port }) => `${ip4 ?? ip6 ?? host}:${port}`).join(" → ") || undefined,
    firesInMsFromNow === undefined ? undefined : `in ${firesInMsFromNow} ms`,
  ];
  return `kept by: ${parts.filter((part) => part !== undefined).join(" ")}`;
}
