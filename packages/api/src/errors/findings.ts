import type { Finding } from "./errors.js";

/** The findings of severity `error`. */
export function errorsIn<Found extends Pick<Finding, "severity">>(findings: readonly Found[]): Found[] {
  return findings.filter(({ severity }) => severity === "error");
}

/** Whether a finding keeps the input from being used. */
export function hasErrors(findings: readonly Pick<Finding, "severity">[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** What an error, or another thing that was thrown, says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
