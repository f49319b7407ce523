import { exitStatus } from "../exit-status.js";
import { boundedOutput } from "./bounded-output.js";
import { createPaint, type Paint, plain } from "./colours.js";

/** Where a command writes. Standard output holds what programs read; everything for people goes to standard error. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Colours for each of the two, where it is a terminal. Undefined: none. */
  readonly colours?: { readonly out: Paint; readonly err: Paint } | undefined;
  /** Resolves once there is room for more on standard output, or nobody reads it any more. Undefined where there always is. */
  readonly drained?: (() => Promise<void>) | undefined;
  /** Resolves once all of standard output is written, or nobody reads it any more. */
  readonly flushed?: (() => Promise<void>) | undefined;
  /** Resolves when nobody reads standard output any more. */
  readonly closed?: Promise<void> | undefined;
}

/** How standard output, or standard error, is coloured. */
export function paintOf({ colours }: Terminal, stream: "out" | "err"): Paint {
  return colours?.[stream] ?? plain;
}

/**
 * The terminal of this process. A reader that went away (`xdskit … | head`) ends nothing: what it no longer reads is dropped. So is what standard error does not take: a server must not end
 * since the disk with its log is full, or the terminal is gone in which it was started, nor keep all that nobody reads. A result that cannot be written is a failure.
 */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process;
  let gone = false;
  const closed = new Promise<void>((resolve) => {
    stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") {
        stderr.write(`xdskit: standard output cannot be written: ${error.message}\n`);
        process.exit(exitStatus.failed);
      }
      gone = true;
      resolve();
    });
  });
  stderr.on("error", () => {});
  const drained = () =>
    new Promise<void>((resolve) => {
      stdout.once("drain", resolve);
      closed.then(resolve, resolve);
    });
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
    drained: () => (gone || !stdout.writableNeedDrain ? Promise.resolve() : drained()),
    flushed: () => (gone ? Promise.resolve() : flushed()),
    closed,
  };
}
