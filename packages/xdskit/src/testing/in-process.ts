import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { main } from "../main.js";
import { type Ended, Printed, type Running, within } from "./command.js";

/** An event as `--output jsonl` prints it. */
export interface PrintedEvent {
  readonly event: string;
  readonly type?: string;
  readonly name?: string;
  readonly [field: string]: unknown;
}

/** A command that runs in this process. */
export interface InProcess extends AsyncDisposable {
  readonly out: () => string;
  readonly err: () => string;
  /** Standard output as JSON lines. */
  readonly events: () => readonly PrintedEvent[];
  /** The first event that passes, after this many others; within a bounded time. */
  seen(passes: (event: PrintedEvent) => boolean, behind?: number): Promise<PrintedEvent>;
  /** As if nobody read its output any more; resolves to the exit status. */
  stop(): Promise<number>;
  /** Resolves to the exit status once it ends by itself. */
  readonly status: Promise<number>;
}

const patienceMs = 30_000;

/**
 * Runs a command in this process to its end, as `xdskitEnds` does in one of its own, which takes a second or two
 * longer.
 */
export function inProcessEnds(...args: readonly string[]): Promise<Ended> {
  return ends(args);
}

/** The same on a terminal of so many columns, without colours. */
export function atTerminal(columns: number, ...args: readonly string[]): Promise<Ended> {
  return ends(args, columns);
}

async function ends(args: readonly string[], columns?: number): Promise<Ended> {
  const { status, out, err } = inProcess(args, undefined, columns);
  const code = await within(status, () => `xdskit ${args.join(" ")} did not end\n${err()}`);
  return { status: code, signal: null, out: out(), err: err() };
}

/** A command that serves until it is told to stop, in a process of its own or in this one. */
export type RunningServer = Pick<Running, "out" | "err" | "seen" | "kill" | "ended" | typeof Symbol.asyncDispose>;

/**
 * Starts a command that serves, in this process, as `xdskit` does in one of its own: that costs half a second of
 * processor time for each start. Here every signal stops it in order.
 */
export function servesHere(...args: readonly string[]): RunningServer {
  const printed = new Printed();
  let kill: (signal: NodeJS.Signals) => void = () => {};
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    kill = resolve;
  });
  const terminal = { out: (text: string) => printed.add("out", text), err: (text: string) => printed.add("err", text) };
  const ended = main(args, { ...terminal, stop }).then((status) => ({
    status,
    signal: null,
    out: printed.out(),
    err: printed.err(),
  }));
  return {
    out: printed.out,
    err: printed.err,
    kill,
    seen: (pattern, where = "out") => printed.seen(pattern, where, ended),
    ended: () => ended,
    async [Symbol.asyncDispose]() {
      kill("SIGTERM");
      await within(ended, () => `xdskit ${args.join(" ")} did not stop\n${printed.err()}`);
    },
  };
}

/** Runs a command in this process. `drained` is asked whether there is room on standard output. */
export function inProcess(args: readonly string[], drained?: () => Promise<void>, columns?: number): InProcess {
  const text = { out: "", err: "" };
  let close: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const write = (where: "out" | "err") => (more: string) => {
    text[where] += more;
  };
  const status = main(args, { out: write("out"), err: write("err"), closed, drained, columns: () => columns });
  const events = () =>
    text.out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as PrintedEvent);
  const stop = () => {
    close();
    return status;
  };
  return {
    out: () => text.out,
    err: () => text.err,
    events,
    status,
    stop,
    async seen(passes, behind = 0) {
      const deadline = Date.now() + patienceMs;
      for (;;) {
        const found = events().slice(behind).find(passes);
        if (found !== undefined) return found;
        if (Date.now() > deadline) throw new Error(`waited in vain for ${passes}\n${text.out}\n${text.err}`);
        await delay(10);
        await turn();
      }
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}
