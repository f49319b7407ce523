import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Finding } from "../../errors/errors.js";

/** Megabytes that the program of a reader takes before it reads anything. */
const program = 20;

/**
 * What is wrong with a file, read in a process whose heap is so many times the file's size. Undefined: it needs more.
 */
export function readWithin(multiple: number, path: string, text: string): readonly Finding[] | undefined {
  const size = Math.ceil(program + (multiple * Buffer.byteLength(text)) / 1_000_000);
  const reader = fileURLToPath(import.meta.url).replace("read-within", "reader");
  const limits = [`--max-old-space-size=${size}`, "--max-semi-space-size=4"];
  const { status, stdout } = spawnSync(process.execPath, [...process.execArgv, ...limits, reader, path], {
    input: text,
  });
  return status === 0 ? (JSON.parse(stdout.toString()) as Finding[]) : undefined;
}
