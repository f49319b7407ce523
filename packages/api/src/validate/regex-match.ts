import { RE2JS } from "re2js";
import { judgeRegex } from "./regex.js";

/** Says whether a whole text is what an expression describes. */
export type RegexMatch = (text: string) => boolean;

/**
 * Compiles an expression of RE2, which takes a time that is linear in the text. Undefined where it is none, or where its program has more than
 * `mostInstructions`, which every character of every text would cost.
 */
export function createRegexMatch(expression: string, mostInstructions: number): RegexMatch | undefined {
  const verdict = judgeRegex(expression);
  if (verdict.kind === "invalid" || verdict.size > mostInstructions) return undefined;
  try {
    const compiled = RE2JS.compile(expression);
    return (text) => compiled.matches(text);
  } catch {
    // One byte, \C, is what RE2 has and its port to JavaScript has not.
    return undefined;
  }
}
