import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { main } from "xds-conformance";

/** One check of a report. */
export interface JudgedCheck {
  readonly id: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly level: string;
  readonly says: string;
  readonly link: string;
  readonly message?: string;
  readonly transcript: readonly string[];
}

/** How a server or a client did. */
export interface Judgement {
  /** The command's exit status. */
  readonly status: number;
  /** What the command printed. */
  readonly out: string;
  readonly checks: readonly JudgedCheck[];
}

/** Runs a command of xds-conformance, which writes its report into the folder. */
export async function judged(
  folder: string,
  command: "server" | "client",
  ...args: readonly string[]
): Promise<Judgement> {
  const json = join(folder, "report.json");
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const status = await main([command, "--json", json, ...args], { out: print, err: print, isTerminal: false });
  return { status, out: printed.join(""), checks: JSON.parse(readFileSync(json, "utf8")).checks };
}

/** Resolves once a server serves what it was given. Throws if it does not within a minute. */
export async function serving(where: readonly string[]): Promise<void> {
  const nothing = { out: () => {}, err: () => {}, isTerminal: false };
  for (let second = 0; second < 60; second++) {
    const looked = await main(
      ["server", ...where, "--answer-ms", "500", "--only", "sotw-ack-silent,delta-ack-silent"],
      nothing,
    );
    if (looked === 0) return;
    await pause(1_000);
  }
  throw new Error(`${where[0]} does not serve: is the port free?`);
}

/** One judgement of those of some checks each. `ids`: all checks, in their order. */
export function together(parts: readonly Judgement[], ids: readonly string[]): Judgement {
  const checks = parts.flatMap((part) => part.checks);
  checks.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
  const status = Math.max(...parts.map((part) => part.status));
  return { status, out: parts.map(({ out }) => out).join("\n"), checks };
}
