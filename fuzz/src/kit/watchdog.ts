import { Worker } from "node:worker_threads";

/** Notices from outside of the event loop when one input blocks it for ever, names the input, and ends the process. */
export interface Watchdog {
  /** Notes the current input. */
  alive(what: string): void;
  close(): Promise<void>;
}

const textBytes = 1_000;

/** `patienceMs`: the time that one input may take on the clock. */
export function createWatchdog(patienceMs: number): Watchdog {
  const shared = new SharedArrayBuffer(4 + textBytes);
  const count = new Int32Array(shared, 0, 1);
  const text = new Uint8Array(shared, 4);
  const worker = new Worker(watch, { eval: true, workerData: { shared, patienceMs } });
  return {
    alive(what) {
      text.fill(0);
      new TextEncoder().encodeInto(what, text);
      Atomics.add(count, 0, 1);
    },
    close: async () => void (await worker.terminate()),
  };
}

const watch = `
const { workerData: { shared, patienceMs } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const count = new Int32Array(shared, 0, 1);
let last = -1;
setInterval(() => {
  const now = Atomics.load(count, 0);
  if (now === last && now > 0) {
    const what = Buffer.from(new Uint8Array(shared, 4)).toString().replace(/\\0+$/, "");
    writeSync(2, "one input keeps the event loop: " + what + "\\n");
    process.kill(process.pid, "SIGKILL");
  }
  last = now;
}, patienceMs);
`;
