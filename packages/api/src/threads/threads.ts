/// <reference types="node" preserve="true" />
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/**
 * Starts a thread with the program `program.js` beside the caller, which passes its `import.meta.url`. A thread does
 * not load TypeScript just because the main thread does, so in tests of the sources a line of JavaScript registers the
 * loader first.
 */
export function startThread(beside: string, program: string, name: string, workerData: unknown): Worker {
  const isSource = beside.endsWith(".ts");
  const module = new URL(`./${program}.${isSource ? "ts" : "js"}`, beside);
  const line = `import("tsx/esm/api").then((tsx) => { tsx.register(); return import(${JSON.stringify(module)}); })`;
  // Modules that users preload in their programs are not for this thread.
  const execArgv = isSource ? undefined : [];
  const worker = new Worker(isSource ? line : module, { workerData, name, execArgv, eval: isSource });
  // A thread that fails while nobody waits for its answer must not end the process.
  worker.on("error", () => {});
  return worker;
}

/**
 * The next message of a thread. Rejects if it fails, or ends before, for which it says `ended`: it needed more memory
 * than there is, or was closed.
 */
export async function answerOf<Answer>(worker: Worker, ended: string): Promise<Answer> {
  const over = new AbortController();
  const { signal } = over;
  try {
    const ending = once(worker, "exit", { signal }).then(() => {
      throw new Error(ended);
    });
    // A failure of the thread (`error`) rejects either of them.
    const [answer] = (await Promise.race([once(worker, "message", { signal }), ending])) as [Answer];
    return answer;
  } finally {
    over.abort();
  }
}
