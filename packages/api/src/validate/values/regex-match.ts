import { RE2JS } from "re2js";
import { judgeRegex } from "./regex.js";

/** Whether an expression matches a whole text. */
export type RegexMatch = (text: string) => boolean;

/**
 * Compiles an RE2 expression. Matching time is linear in the text. Undefined if it is invalid, or if its program has
 * more than `maxInstructions`, which every character would cost.
 */
export function createRegexMatch(expression: string, maxInstructions: number): RegexMatch | undefined {
  const verdict = judgeRegex(expression);
  if (verdict.kind === "invalid" || verdict.size > maxInstructions) return undefined;
  try {
    const compiled = RE2JS.compile(expression);
    return (text) => compiled.matches(text);
  } catch {
    // RE2's \C (one byte) is missing in its JavaScript port.
    return undefined;
  }
}
