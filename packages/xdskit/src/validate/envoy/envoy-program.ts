import { spawn } from "node:child_process";
import { maxSmallBody, XdskitError } from "@xdskit/api";

/** What Envoy makes of a configuration: takes it, refuses it, ends because of it, or takes too long. */
export type EnvoyVerdict =
  | { readonly is: "taken" }
  | { readonly is: "refused" | "crashed"; readonly reason: string }
  | { readonly is: "late" };

/** The program that `--envoy` names. */
export interface EnvoyProgram {
  /** Such as `1.40.0`. */
  readonly version: string;
  /** @param file a bootstrap */
  validate(file: string, timeoutMs: number): Promise<EnvoyVerdict>;
}

/** Milliseconds for `--version`. */
const longestVersionMs = 15_000;

/**
 * Asks a program for its version.
 * @throws XdskitError XDSKIT_ENVOY_UNUSABLE if it is not there, cannot be run, or is no Envoy
 */
export async function envoyProgram(path: string): Promise<EnvoyProgram> {
  if (path === "") throw unusable('""', "is not there");
  const { out, end } = await run(path, ["--version"], longestVersionMs);
  const version = /\bversion: [\da-f]+\/(\d+\.\d+\.\d+[^/\s]*)\//.exec(out)?.[1];
  if (end === "late") throw unusable(path, `did not say its version within ${longestVersionMs / 1000} s`);
  if (version === undefined) throw unusable(path, "is no Envoy: its --version says no version of Envoy");
  return { version, validate: (file, timeoutMs) => validate(path, file, timeoutMs) };
}

async function validate(path: string, file: string, timeoutMs: number): Promise<EnvoyVerdict> {
  const { err, end } = await run(path, ["--mode", "validate", "-c", file, "--log-level", "error"], timeoutMs);
  if (end === "late") return { is: "late" };
  if (end === 0) return { is: "taken" };
  const [, reason] = /error initializing configuration '[^']*': (.*)/s.exec(err) ?? [];
  if (reason !== undefined) return { is: "refused", reason: reason.trim() };
  const last = err.trim().split("\n").at(-1) ?? "";
  // Envoy catches some signals, prints a stack and ends.
  const isCrash = typeof end === "string" || /\bCaught (\w+)|\bassert failure/.test(err);
  return isCrash ? { is: "crashed", reason: String(end) } : { is: "refused", reason: last };
}

interface EndedProgram {
  readonly out: string;
  readonly err: string;
  /** The exit status or the signal. */
  readonly end: number | NodeJS.Signals | "late";
}

/** Runs a program to its end, or kills it. It gets no input. */
function run(path: string, args: readonly string[], timeoutMs: number): Promise<EndedProgram> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, args, { stdio: ["ignore", "pipe", "pipe"] });
    const said = { out: "", err: "" };
    const hear = (which: "out" | "err") => (chunk: Buffer) => {
      // Envoy may quote all of a resource.
      if (said[which].length < maxSmallBody) said[which] += chunk.toString("utf8");
    };
    child.stdout.on("data", hear("out"));
    child.stderr.on("data", hear("err"));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
      // A program that it has started may keep these open.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const reason = error.code === "ENOENT" ? "is not there" : `cannot be run: ${error.code ?? error.message}`;
      reject(unusable(path, reason));
    });
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      resolve({ ...said, end: isLate ? "late" : (signal ?? status ?? 1) });
    });
  });
}

function unusable(path: string, reason: string): XdskitError {
  return XdskitError.of("XDSKIT_ENVOY_UNUSABLE", `${path} ${reason}`);
}
