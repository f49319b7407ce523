import { workerData } from "node:worker_threads";
import type { Answer, Post } from "./messages.js";
import { createWorkerServer } from "./worker-server.js";
import type { WorkerStart } from "./worker-thread.js";

// The program of a worker thread.
const { settings, port, replies, replied } = workerData as WorkerStart;
const signal = new Int32Array(replied);
const server = createWorkerServer(
  settings,
  (messages) => port.postMessage(messages),
  (answer: Answer) => {
    replies.postMessage(answer);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
  },
);
port.on("message", (post: Post) => server.take(post));
port.postMessage([{ kind: "ready", timeOrigin: performance.timeOrigin }]);
