import { type Finding, findingText } from "@xdskit/api";
import type { Log } from "./log.js";

/** One line, at the level of its severity. */
export function logFinding(log: Log, finding: Finding): void {
  const { severity, ...parts } = finding;
  log[severity === "error" ? "error" : "warn"]("finding", { finding: parts }, findingText(finding));
}
