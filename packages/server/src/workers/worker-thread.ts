import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Answer, FromWorker, Post, Question, ToWorker, WorkerSettings } from "./messages.js";

/** What a worker's program gets. */
export interface WorkerStart {
  readonly settings: WorkerSettings;
  /** What it has to say, and what it is told. */
  readonly port: MessagePort;
  /** Where it answers what the main thread waits for, and what is counted up with each answer. */
  readonly replies: MessagePort;
  readonly replied: SharedArrayBuffer;
}

/** A worker that does not answer for so long is ended, in milliseconds. */
const silentMs = 10_000;

/** What a thread runs. It does not load TypeScript because the main thread does: in tests of the sources it has to be told. */
const program = import.meta.url.endsWith(".ts")
  ? `import("tsx/esm/api").then((tsx) => { tsx.register(); return import(${JSON.stringify(new URL("./worker-main.ts", import.meta.url))}); })`
  : new URL("./worker-main.js", import.meta.url);

/** One worker, as the main thread sees it. */
export interface WorkerThread {
  /** Posted with the next `flush`. */
  post(message: ToWorker): void;
  flush(): void;
  /** The number of what is posted next. */
  readonly seq: number;
  /** Waits for the answer, which the worker gives once it has carried out all that was posted. Undefined of a worker that is at its end. */
  ask(question: Question): Answer | undefined;
  /** Takes what it has said by now. */
  hear(): void;
  terminate(): Promise<unknown>;
}

/** `ended` is called once, with why it ended by itself. */
export function startWorker(
  settings: WorkerSettings,
  received: (messages: readonly FromWorker[]) => void,
  ended: (reason: string) => void,
): WorkerThread {
  const { port1, port2 } = new MessageChannel();
  const { port1: port, port2: theirs } = new MessageChannel();
  const replied = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const signal = new Int32Array(replied);
  const workerData: WorkerStart = { settings, port: theirs, replies: port2, replied };
  const worker = new Worker(program, {
    ...{ workerData, transferList: [port2, theirs], name: `xdskit-${settings.worker}` },
    eval: typeof program === "string",
  });
  let messages: ToWorker[] = [];
  let seq = 1;
  let gone = false;
  let reason = "";
  port.on("message", received);
  worker.on("error", (error) => {
    reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  });
  worker.once("exit", (code) => {
    gone = true;
    port1.close();
    port.close();
    ended(reason === "" ? `it ended with ${code}` : reason);
  });

  function flush(): void {
    if (gone || messages.length === 0) return;
    const post: Post = { seq, messages };
    messages = [];
    seq += 1;
    port.postMessage(post);
  }

  return {
    get seq() {
      return seq;
    },
    post(message) {
      if (!gone) messages.push(message);
    },
    flush,
    ask(question) {
      if (gone) return undefined;
      const until = performance.now() + silentMs;
      messages.push({ kind: "ask", question });
      let heard = Atomics.load(signal, 0);
      flush();
      for (;;) {
        const found = receiveMessageOnPort(port1);
        if (found !== undefined) return found.message as Answer;
        const left = until - performance.now();
        if (left <= 0) break;
        Atomics.wait(signal, 0, heard, left);
        heard = Atomics.load(signal, 0);
      }
      // Whatever it is at, its clients wait for it too.
      gone = true;
      reason = `it did not answer for ${silentMs} ms`;
      void worker.terminate();
      return undefined;
    },
    hear() {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        received(next.message as readonly FromWorker[]);
      }
    },
    terminate: () => worker.terminate(),
  };
}
