import { describe, type Finding, XdskitError } from "@xdskit/api";
import { printable } from "./printable.js";
import type { Terminal } from "./terminal.js";

/** Tells people why a command gives up: one line, and below it every further finding. */
export function reportFailure(terminal: Terminal, command: string, error: unknown): void {
  const [first, ...more] =
    error instanceof XdskitError
      ? error.findings.map(describeFinding)
      : [printable(error instanceof Error ? error.message : String(error))];
  terminal.err(`xdskit ${command}: ${first}\n${more.map((line) => `  ${line}\n`).join("")}`);
}

/** A finding on one line, safe to print. */
export function findingText(finding: Finding): string {
  return printable(describe(finding));
}

/** A finding on one line; a warning says that it is one. */
export function describeFinding(finding: Finding): string {
  return finding.severity === "warning" ? `warning: ${findingText(finding)}` : findingText(finding);
}
