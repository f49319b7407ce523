import { errorsIn, type Finding } from "@xdskit/api";

/** Cuts findings to a number, errors first; the last one then gives the number of the others. */
export function boundedFindings(findings: readonly Finding[], limit: number): readonly Finding[] {
  if (findings.length <= limit) return findings;
  const ordered = [...errorsIn(findings), ...findings.filter(({ severity }) => severity === "warning")];
  const kept = ordered.slice(0, Math.max(1, limit - 1));
  const next = ordered[kept.length] as Finding;
  const message = `and ${ordered.length - kept.length} more findings, which are not shown`;
  return [...kept, { code: next.code, severity: next.severity, message }];
}

/** Whether two reports say the same. */
export function sameFindings(a: readonly Finding[], b: readonly Finding[]): boolean {
  return a.length === b.length && JSON.stringify(a) === JSON.stringify(b);
}
