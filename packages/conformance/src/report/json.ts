import { writeYaml } from "@xdskit/api";
import { isAgainst, type Result, tallyOf } from "../run/result.js";

/** The report for programs. */
export function jsonReport(peer: string, requirements: string, results: readonly Result[]): string {
  const checks = results.map(({ check, status, message, transcript, milliseconds, isScored, expected }) => ({
    id: check.id,
    status,
    level: check.level,
    tier: check.tier,
    since: check.since,
    scored: isScored,
    expectedToFail: expected !== undefined,
    says: check.says,
    link: check.link,
    message,
    milliseconds,
    transcript,
  }));
  const conforms = !results.some(isAgainst);
  return `${JSON.stringify({ peer, requirements, conforms, ...tallyOf(results), checks }, undefined, 2)}\n`;
}

/** The same in YAML. */
export function yamlReport(peer: string, requirements: string, results: readonly Result[]): string {
  return writeYaml(JSON.parse(jsonReport(peer, requirements, results)));
}
