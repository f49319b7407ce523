import { type Finding, findingText, messageOf, printable, XdskitError } from "@xdskit/api";
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

/** A finding on one line, which says if it is a warning. */
export function describeFinding(finding: Finding, paint: Paint = plain): string {
  const text = findingText(finding);
  return finding.severity === "warning" ? `${paint("warning", "warning:")} ${text}` : paint("error", text);
}
