import { workerData } from "node:worker_threads";
import { FileRoom, memoryOf } from "./file-batch.js";
import { type ReadAheadStart, takenAt, unclaimedAt } from "./read-ahead.js";

// What the second thread runs: it reads whatever batch is next that nobody reads, and stops at a distance before whoever takes them.
const { paths: text, maxBytes, plan, shared, port } = workerData as ReadAheadStart;
const paths = text.split("\0");
const counts = new Int32Array(shared);
const room = new FileRoom(maxBytes);
const batches = Math.ceil(paths.length / plan.files);

for (;;) {
  const number = Atomics.add(counts, unclaimedAt, 1);
  if (number >= batches) break;
  for (let taken = Atomics.load(counts, takenAt); number - taken > plan.ahead; taken = Atomics.load(counts, takenAt)) {
    Atomics.wait(counts, takenAt, taken);
  }
  const batch = room.readBatch(paths, number, plan.files);
  port.postMessage(batch, memoryOf(batch));
}
port.close();
