import type { Finding } from "./errors.js";
import { maxFindings } from "./limits.js";

/**
 * Whether there is a place for one more finding. Among too many, an error drives out the last warning: readers take
 * what has no error.
 */
export function makePlace(findings: Pick<Finding, "severity">[], severity: Finding["severity"]): boolean {
  if (findings.length < maxFindings) return true;
  const last = severity === "error" ? findings.findLastIndex((finding) => finding.severity === "warning") : -1;
  if (last === -1) return false;
  findings.splice(last, 1);
  return true;
}
