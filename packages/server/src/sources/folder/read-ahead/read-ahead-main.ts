import { workerData } from "node:worker_threads";
import { batchesOf, FileRoom, memoryOf } from "./file-batch.js";
import { ahead, type ReadAheadStart, takenAt, unclaimedAt } from "./read-ahead.js";

// What the second thread runs: it reads whatever batch is next that nobody reads, and stops at a distance before whoever takes them.
const { paths: text, maxBytes, shared, port } = workerData as ReadAheadStart;
const paths = text.split("\0");
const counts = new Int32Array(shared);
const room = new FileRoom(maxBytes);
const batches = batchesOf(paths.length);

for (;;) {
  const number = Atomics.add(counts, unclaimedAt, 1);
  if (number >= batches) break;
  for (let taken = Atomics.load(counts, takenAt); number - taken > ahead; taken = Atomics.load(counts, takenAt)) {
    Atomics.wait(counts, takenAt, taken);
  }
  const batch = room.readBatch(paths, number);
  port.postMessage(batch, memoryOf(batch));
}
port.close();
