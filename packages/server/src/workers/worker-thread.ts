import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { threadProgram } from "../basics/thread-program.js";
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

/**
 * For how long the main thread waits and does nothing else, and how long a worker that serves may be silent before it
 * is ended.
 */
export interface WorkerPatience {
  readonly askMs: number;
  /** Between two looks at a worker, in milliseconds: at each it is asked, unless it owes an answer. */
  readonly lookMs: number;
  /** Counted and not timed: a machine that slept has not waited. */
  readonly looks: number;
}

/** What workers are given. */
export const defaultPatience: WorkerPatience = { askMs: 100, lookMs: 1_000, looks: 10 };

const workerProgram = threadProgram(import.meta.url, "worker-main");

/** One worker, as the main thread sees it. */
export interface WorkerThread {
  /** Posted with the next `flush`. */
  post(message: ToWorker): void;
  flush(): void;
  /** The number of what is posted next. */
  readonly seq: number;
  /**
   * Waits for the answer, which the worker gives once it has carried out all that was posted. Undefined of a worker
   * that is at its end or too busy; as long as it owes an answer nobody waits for another.
   */
  ask(question: Question, until?: number): Answer | undefined;
  /**
   * Asks for its counters, which are told when they come: so several are at it at once before one of them is waited
   * for.
   */
  prompt(): void;
  /** It owes an answer that is late: nothing that it is asked now would be answered. */
  isBehind(): boolean;
  /** From now on it has to answer in time: it serves. */
  watch(): void;
  /** Takes what it has said by now. */
  hear(): void;
  terminate(): Promise<unknown>;
}

/** What a thread tells whoever started it. */
export interface WorkerListener {
  received(messages: readonly FromWorker[]): void;
  /**
   * An answer came that nobody waited for, or not any longer: `wasBehind` says whether others were refused meanwhile.
   */
  answered(answer: Answer, wasBehind: boolean): void;
  /** Called once, with why it ended by itself. */
  ended(reason: string): void;
}

/** `program` is JavaScript, or where a module with it is. */
export function startWorker(
  settings: WorkerSettings,
  listener: WorkerListener,
  patience: WorkerPatience = defaultPatience,
  program: string | URL = workerProgram,
): WorkerThread {
  const { received, ended } = listener;
  const { port1, port2 } = new MessageChannel();
  const { port1: port, port2: theirs } = new MessageChannel();
  const replied = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const signal = new Int32Array(replied);
  const workerData: WorkerStart = { settings, port: theirs, replies: port2, replied };
  const worker = new Worker(program, {
    workerData,
    transferList: [port2, theirs],
    name: `xdskit-${settings.worker}`,
    eval: typeof program === "string",
  });
  let messages: ToWorker[] = [];
  let seq = 1;
  let gone = false;
  let reason = "";
  let asked = 0;
  /** The answer that it owes, whether it is late, and at how many looks it was. */
  let owed: number | undefined;
  let isBehind = false;
  let looks = 0;
  let timer: NodeJS.Timeout | undefined;
  port.on("message", received);
  port1.on("message", late);
  port1.unref();
  worker.on("error", (error) => {
    reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  });
  worker.once("exit", (code) => {
    gone = true;
    clearInterval(timer);
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

  function put(question: Question): number {
    asked += 1;
    messages.push({ kind: "ask", id: asked, question });
    flush();
    return asked;
  }

  function late(answer: Answer): void {
    const wasBehind = isBehind;
    if (owed !== undefined && answer.id >= owed) {
      owed = undefined;
      isBehind = false;
      looks = 0;
    }
    listener.answered(answer, wasBehind && !isBehind);
  }

  /** What came while nobody listened. */
  function catchUp(): void {
    for (let next = receiveMessageOnPort(port1); next !== undefined; next = receiveMessageOnPort(port1)) {
      late(next.message as Answer);
    }
  }

  function look(): void {
    catchUp();
    if (gone) return;
    if (owed === undefined) {
      owed = put({ kind: "counters" });
      return;
    }
    isBehind = true;
    looks += 1;
    if (looks < patience.looks) return;
    // Whatever it is at, its clients wait for it too.
    gone = true;
    reason = `it did not answer for ${(patience.looks * patience.lookMs) / 1000} s`;
    void worker.terminate();
  }

  return {
    get seq() {
      return seq;
    },
    post(message) {
      if (!gone) messages.push(message);
    },
    flush,
    prompt() {
      if (!gone && owed === undefined) owed = put({ kind: "counters" });
    },
    ask(question, until = performance.now() + patience.askMs) {
      if (gone) return undefined;
      let heard = Atomics.load(signal, 0);
      catchUp();
      if (isBehind || until <= performance.now()) return undefined;
      const id = put(question);
      for (;;) {
        const found = receiveMessageOnPort(port1)?.message as Answer | undefined;
        if (found?.id === id) return found;
        if (found !== undefined) {
          late(found);
          continue;
        }
        const left = until - performance.now();
        if (left <= 0) break;
        Atomics.wait(signal, 0, heard, left);
        heard = Atomics.load(signal, 0);
      }
      owed = id;
      isBehind = true;
      return undefined;
    },
    isBehind() {
      if (isBehind) catchUp();
      return isBehind;
    },
    watch() {
      timer ??= setInterval(look, patience.lookMs).unref();
    },
    hear() {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        received(next.message as readonly FromWorker[]);
      }
    },
    terminate: () => worker.terminate(),
  };
}
