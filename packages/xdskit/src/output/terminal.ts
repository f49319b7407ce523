/// <reference types="node" preserve="true" />
import { isatty } from "node:tty";
import { exitStatus } from "../process/exit-status.js";
import { boundedOutput } from "./bounded-output.js";
import { createPaint, type Paint, plain } from "./colours.js";

/** Where a command writes. Standard output is for programs; everything for people goes to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Colours of standard output and standard error, if they are terminals. Undefined: none. */
  readonly colours?: { readonly out: Paint; readonly err: Paint } | undefined;
  /** Resolves once standard output has room, or its reader is gone. Undefined if there is always room. */
  readonly drained?: (() => Promise<void>) | undefined;
  /** Resolves once all of standard output is written, or its reader is gone. */
  readonly flushed?: (() => Promise<void>) | undefined;
  /** How wide it is; undefined: nothing is cut or broken, since it is no terminal. */
  readonly columns?: ((stream: "out" | "err") => number | undefined) | undefined;
  /** Asks the person at the terminal, yes or no; whatever is not yes is no. Undefined: nobody is there. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Resolves when the reader of standard output is gone. */
  readonly closed?: Promise<void> | undefined;
  /** Resolves when a command that serves must end as if this signal came. Undefined: signals end it. */
  readonly stop?: Promise<NodeJS.Signals> | undefined;
}

/** The colours of standard output, or of standard error. */
export function paintOf({ colours }: Terminal, stream: "out" | "err"): Paint {
  return colours?.[stream] ?? plain;
}

/**
 * The terminal of this process. If a reader goes away (`xdskit … | head`), further output is dropped and the command
 * goes on. The same holds for standard error that nobody reads: a server must not end because the disk with its log is
 * full or its terminal is gone, and must not keep unread lines. A result that cannot be written is a failure.
 */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  let gone = false;
  // One for all that wait: a promise each would be kept until `closed` resolves, and a listener each be thousands.
  let room: Promise<void> | undefined;
  let roomCame = () => {};
  stdout.on("drain", () => roomCame());
  const closed = new Promise<void>((resolve) => {
    stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") {
        stderr.write(`xdskit: standard output cannot be written: ${error.message}\n`);
        process.exit(exitStatus.failed);
      }
      gone = true;
      resolve();
      roomCame();
    });
  });
  stderr.on("error", () => {});
  const drained = () => {
    room ??= new Promise<void>((resolve) => {
      roomCame = () => {
        room = undefined;
        resolve();
      };
    });
    return room;
  };
  const flushed = () =>
    new Promise<void>((resolve) => {
      stdout.write("", () => resolve());
    });
  return {
    out: (text) => void stdout.write(text),
    err: boundedOutput(
      stderr,
      (dropped) => `xdskit: ${dropped} lines were left out, since nobody read standard error\n`,
    ),
    colours: {
      out: createPaint(stdout.isTTY === true, process.env),
      err: createPaint(stderr.isTTY === true, process.env),
    },
    columns: (stream) => {
      const { isTTY, columns } = stream === "out" ? stdout : stderr;
      return isTTY === true ? columns || 80 : undefined;
    },
    drained: () => (gone || !stdout.writableNeedDrain ? Promise.resolve() : drained()),
    flushed: () => (gone ? Promise.resolve() : flushed()),
    closed,
    ask: isatty(0) && stderr.isTTY === true ? askHere : undefined,
  };
}

/** Loaded for this: hardly any command asks. */
async function askHere(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
  try {
    return /^y(es)?$/i.test((await Promise.race([lines.question(question), closed])).trim());
  } finally {
    lines.close();
  }
}
