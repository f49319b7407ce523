import { type Finding, findingText, messageOf, printable, XdskitError } from "@xdskit/api";
import { exitStatus } from "../process/exit-status.js";
import { isMissingFile } from "../process/missing-file.js";
import { type Paint, plain } from "./colours.js";
import { tell } from "./screen/told.js";
import { paintOf, type Terminal } from "./terminal.js";

/** Says why a command gives up: one line, and every further finding below it. */
export function reportFailure(terminal: Terminal, command: string, error: unknown): void {
  const [first, ...more] =
    error instanceof XdskitError
      ? error.findings.map((finding) => describeFinding(finding))
      : [printable(messageOf(error))];
  const who = paintOf(terminal, "err")("error", `xdskit ${command}:`);
  tell(terminal, `${who} ${first}\n${more.map((line) => `  ${line}\n`).join("")}`, "err");
}

/**
 * Says which input is wrong, and gives the exit status: that of wrong usage, or with `named` only if a folder or one of
 * these files is missing. Throws what is no XdskitError.
 */
export function inputFailure(
  terminal: Terminal,
  command: string,
  error: unknown,
  named?: readonly (string | undefined)[],
): number {
  if (!(error instanceof XdskitError)) throw error;
  reportFailure(terminal, command, error);
  return named === undefined || isMissingFile(error, named) ? exitStatus.usage : exitStatus.failed;
}

/** A finding on one line, which says if it is a warning. */
export function describeFinding(finding: Finding, paint: Paint = plain): string {
  const text = findingText(finding);
  return finding.severity === "warning" ? `${paint("warning", "warning:")} ${text}` : paint("error", text);
}
