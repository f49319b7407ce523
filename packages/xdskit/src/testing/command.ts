import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

/** The real command's file. */
export const commandFile = fileURLToPath(new URL("../../bin/xdskit.cjs", import.meta.url));
/** A loaded machine is slow, a hung program is slower. */
const patienceMs = 60_000;

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** What a program that has ended left behind. */
export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** A program under test, running. */
export interface Running {
  readonly pid: number;
  /** Everything on standard output so far. */
  out(): string;
  /** Everything on standard error so far. */
  err(): string;
  /**
   * Resolves with the match when standard output, or standard error, has it; rejects when it ends or takes too long
   * before.
   */
  seen(pattern: RegExp, where?: "out" | "err"): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
  /** Writes to its standard input, if it was started with one; without a text that ends. */
  input(text?: string): void;
  /** Reads its standard output no more, or again. */
  read(reading: boolean): void;
  ended(): Promise<Ended>;
  /** For the end of a test: kills it if it still runs. */
  [Symbol.asyncDispose](): Promise<void>;
}

type Stream = "out" | "err";

/** What a program prints, for a test that waits for some of it. */
export class Printed {
  readonly #text = { out: "", err: "" };
  readonly #watchers = new Set<() => void>();

  readonly out = (): string => this.#text.out;
  readonly err = (): string => this.#text.err;

  add(stream: Stream, text: string): void {
    this.#text[stream] += text;
    for (const watch of this.#watchers) watch();
  }

  /**
   * Resolves with the match when standard output, or standard error, has it; rejects when the program ends or takes too
   * long before.
   */
  seen(pattern: RegExp, stream: Stream, ended: Promise<Ended>): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>((resolve, reject) => {
      const watch = () => {
        const match = pattern.exec(this.#text[stream]);
        if (match === null) return;
        this.#watchers.delete(watch);
        resolve(match);
      };
      this.#watchers.add(watch);
      watch();
      ended.then(({ status, err }) => reject(new Error(`ended with ${status} before ${pattern}\n${err}`)), reject);
    });
    return within(found, () => `waited for ${pattern} in vain\n${this.out()}\n${this.err()}`);
  }
}

/** Starts the real command, loaded as this process was: from its sources or as it was built. */
export function xdskit(...args: readonly string[]): Running {
  return start(process.execPath, [...process.execArgv, commandFile, ...args]);
}

/** The same, with a standard input. */
export function xdskitWithInput(...args: readonly string[]): Running {
  return start(process.execPath, [...process.execArgv, commandFile, ...args], "pipe");
}

/** Runs the real command to its end. */
export async function xdskitEnds(...args: readonly string[]): Promise<Ended> {
  const running = xdskit(...args);
  try {
    return await within(running.ended(), () => `xdskit ${args.join(" ")} did not end\n${running.err()}`);
  } finally {
    await running[Symbol.asyncDispose]();
  }
}

/** Starts any program. */
export function start(program: string, args: readonly string[], stdin: "ignore" | "pipe" = "ignore"): Running {
  const child = spawn(program, args, { stdio: [stdin, "pipe", "pipe"] }) as Child;
  child.stdin?.on("error", () => {});
  const printed = new Printed();
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => printed.add("out", chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => printed.add("err", chunk));
  const ended = endOf(child, printed);

  return {
    pid: child.pid ?? -1,
    out: printed.out,
    err: printed.err,
    seen: (pattern, where = "out") => printed.seen(pattern, where, ended),
    kill: (signal) => void child.kill(signal),
    input: (text) => void (text === undefined ? child.stdin?.end() : child.stdin?.write(text)),
    read: (reading) => void (reading ? child.stdout.resume() : child.stdout.pause()),
    ended: () => ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await within(ended, () => `${args.join(" ")} was killed, but something that it started keeps its output open`);
    },
  };
}

async function endOf(child: Child, { out, err }: Printed): Promise<Ended> {
  const [status, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return { status, signal, out: out(), err: err() };
}

/** Waits a bounded time. */
export async function within<T>(promise: Promise<T>, message: () => string, ms = patienceMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again and again, for a bounded time, until the answer passes. */
export async function eventually<T>(
  ask: () => Promise<T>,
  passes: (answer: T) => boolean,
  ms = patienceMs,
): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const answer = await ask().catch((error: unknown) => error as Error);
    if (!(answer instanceof Error) && passes(answer)) return answer;
    if (Date.now() > deadline)
      throw new Error(`in vain; the last answer: ${answer instanceof Error ? answer.stack : JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
