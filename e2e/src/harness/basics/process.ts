import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { within } from "./wait.js";

export interface ProcessOptions {
  /** For messages: `envoy`, `xdskit serve`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The user to run as; only the superuser may choose. */
  readonly uid?: number;
  /** Its lines are printed as they come. Default: they are kept only. */
  readonly isShown?: boolean;
}

/** A program that a test started. It never outlives the test process. */
export interface Process {
  readonly name: string;
  readonly pid: number;
  /** All lines of standard output so far. */
  readonly stdout: readonly string[];
  /** The last lines of standard error. */
  readonly stderr: readonly string[];
  /**
   * Resolves to the first line of standard output that matches, past ones included; rejects when the process ends
   * first.
   */
  line(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** The same for standard error, from line number `from` of those kept. */
  errorLine(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** Called for each further line of standard output. */
  onLine(listener: (line: string) => void): void;
  /** Writes to standard input. */
  write(text: string): void;
  /** Sends a signal and resolves to how the process ended; SIGKILL follows when it takes longer than `withinMs`. */
  stop(signal?: NodeJS.Signals, withinMs?: number): Promise<Ending>;
  readonly ended: Promise<Ending>;
  isRunning(): boolean;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const keptErrorLines = 2_000;
/** A folder that gets all lines of each program, with the time at which they came: `npm run soak -- --logs DIR`. */
const logs = process.env.TEST_LOGS;
const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}
process.on("exit", killAll);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.once(signal, () => {
    killAll();
    process.exit(1);
  });
}

/** Starts a program; its end is not awaited. */
export function startProcess(options: ProcessOptions): Process {
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  running.add(child);
  const { name, isShown } = options;
  const tell = (print: (line: string) => void) => (line: string) => {
    keep(name, child, line);
    if (isShown) print(line);
  };
  const out = new OutputLines(child.stdout, tell(console.log), Number.POSITIVE_INFINITY);
  const errors = new OutputLines(child.stderr, tell(console.error), keptErrorLines);
  let ending: Ending | undefined;
  const ended = new Promise<Ending>((resolve) => {
    const end = (result: Ending): void => {
      ending ??= result;
      running.delete(child);
      resolve(ending);
    };
    child.on("close", (code, signal) => end({ code, signal }));
    child.on("error", (error) => {
      errors.kept.push(String(error));
      end({ code: null, signal: null });
    });
  });
  child.stdin.on("error", () => undefined);
  const lineOf =
    (lines: OutputLines, stream: string) =>
    (pattern: RegExp, withinMs: number = 60_000) => {
      const what = `a line ${pattern} on ${stream}`;
      const gone = ended.then(({ code, signal }) => {
        const last = errors.kept.slice(-20).join("\n");
        throw new Error(`${name} ended (${signal ?? `status ${code}`}) before ${what}:\n${last}`);
      });
      gone.catch(() => undefined);
      return lines.match(pattern, (found) => within(`${what} of ${name}`, withinMs, Promise.race([found, gone])));
    };
  return {
    name,
    pid: child.pid ?? -1,
    stdout: out.kept,
    stderr: errors.kept,
    line: lineOf(out, "standard output"),
    errorLine: lineOf(errors, "standard error"),
    onLine: (listener) => out.listeners.add(listener),
    write: (text) => {
      child.stdin.write(text);
    },
    async stop(signal = "SIGTERM", withinMs = 8_000) {
      if (ending) return ending;
      child.kill(signal);
      const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
    ended,
    isRunning: () => ending === undefined,
  };
}

function keep(name: string, { pid }: ChildProcess, line: string): void {
  if (logs === undefined) return;
  appendFileSync(join(logs, `${name.replace(/\W+/g, "-")}.${pid}.log`), `${new Date().toISOString()} ${line}\n`);
}

/** The last lines that a process wrote, and whoever waits for the next ones. */
class OutputLines {
  readonly kept: string[] = [];
  readonly listeners = new Set<(line: string) => void>();

  constructor(stream: NodeJS.ReadableStream, tell: (line: string) => void, most: number) {
    readLines(stream, (line) => {
      tell(line);
      this.kept.push(line);
      if (this.kept.length > most) this.kept.shift();
      for (const listener of this.listeners) listener(line);
    });
  }

  /** The first line that matches, past ones included; `wait` bounds the time for one to come. */
  async match(
    pattern: RegExp,
    wait: (found: Promise<RegExpExecArray>) => Promise<RegExpExecArray>,
  ): Promise<RegExpExecArray> {
    for (const line of this.kept) {
      const match = pattern.exec(line);
      if (match) return match;
    }
    let listener: ((line: string) => void) | undefined;
    const found = new Promise<RegExpExecArray>((resolve) => {
      listener = (line) => {
        const match = pattern.exec(line);
        if (match) resolve(match);
      };
      this.listeners.add(listener);
    });
    try {
      return await wait(found);
    } finally {
      if (listener) this.listeners.delete(listener);
    }
  }
}

function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) onLine(part);
  });
  stream.on("end", () => {
    if (rest !== "") onLine(rest);
  });
}
