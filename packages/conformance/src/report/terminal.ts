import type { Sentence } from "../checks/contract/check.js";
import { isAgainst, type Result, tallyOf } from "../run/result.js";

/** Where texts go, and whether colours help there. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly isTerminal: boolean;
}

const colours = { passed: 32, failed: 31, skipped: 33, dim: 2 } as const;
const indent = "         ";

function painted(text: string, colour: keyof typeof colours, { isTerminal }: Terminal): string {
  return isTerminal ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text;
}

/** Prints a result: one line, and for what failed what was said and what to read. What was skipped comes at the end. */
export function printResult(result: Result, terminal: Terminal): void {
  const { check, status, message, expected, isScored } = result;
  if (status === "skipped") return;
  const word = painted(status.padEnd(7), status, terminal);
  const marks = [
    check.level,
    ...(isScored ? [] : ["newer than the requirements"]),
    ...(expected !== undefined && status === "failed" ? ["as expected"] : []),
    ...(expected === "fails" && status === "passed" ? ["although it is expected to fail"] : []),
  ];
  const seen = status !== "failed" && message !== undefined ? `: ${message}` : "";
  const shown = status === "passed" && expected !== "fails" ? "" : ` (${marks.join(", ")})`;
  terminal.out(`${word}  ${check.id}${shown}${seen}\n`);
  if (status !== "failed" || expected !== undefined) return;
  const lines = [check.says, message ?? "", ...result.transcript.map((line) => `    ${line}`), `read ${check.link}`];
  terminal.out(lines.map((line) => `${indent}${painted(line, "dim", terminal)}\n`).join(""));
}

/** So many checks that were skipped for one reason are named. */
const mostShown = 6;

/** The checks that were skipped, by the reason. */
function skippedBy(results: readonly Result[]): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const { check, status, message = "" } of results) {
    if (status === "skipped") ids.set(message, [...(ids.get(message) ?? []), check.id]);
  }
  return ids;
}

/** Prints what the results come to. The last line is for programs. */
export function printSummary(results: readonly Result[], terminal: Terminal): void {
  const against = results.filter(isAgainst);
  const back = against.filter(({ expected }) => expected !== undefined);
  const must = against.length - back.length;
  const others = results.filter((result) => result.status === "failed" && !isAgainst(result));
  const expected = others.filter((result) => result.expected !== undefined).length;
  const say = (count: number, what: string) => {
    if (count > 0) terminal.out(`${count} ${what}\n`);
  };
  terminal.out("\n");
  for (const [reason, ids] of skippedBy(results)) {
    const which = ids.length > mostShown ? `${ids.length} checks` : ids.join(", ");
    terminal.out(`${painted("skipped", "skipped", terminal)}  ${which}: ${reason}\n`);
  }
  say(must, "of the failed ones MUST hold");
  say(expected, "failed as expected");
  say(others.length - expected, "of the failed ones only SHOULD hold, or are newer than the requirements");
  if (back.length > 0) {
    const names = back.map(({ check }) => check.id).join(", ");
    terminal.out(`passed although expected to fail; take out of the file of expected failures: ${names}\n`);
  }
  const { passed, failed, skipped } = tallyOf(results);
  terminal.out(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
}

/** Prints the list of checks. */
export function printList(checks: readonly Sentence[], terminal: Terminal): void {
  const width = Math.max(...checks.map(({ id }) => id.length));
  for (const { id, level, tier, since, says } of checks) {
    terminal.out(`${id.padEnd(width)}  ${level.padEnd(6)}  ${tier.padEnd(7)}  ${since}  ${says}\n`);
  }
}

/** Prints all that there is to say about a check. */
export function printExplanation({ id, level, tier, since, says, because, link }: Sentence, terminal: Terminal): void {
  const facts = [`${level}, since ${since}, tier ${tier}`, says, because, link];
  terminal.out(`${id}\n${facts.map((fact) => `  ${fact}\n`).join("")}`);
}
