import { RE2JS } from "re2js";
import { mostRepeats, shapeOfRegex } from "./regex-shape.js";

/** What there is to say about a regular expression: nothing but its size if it is one of RE2. */
export type RegexVerdict =
  | { readonly kind: "valid"; readonly size: number }
  | { readonly kind: "invalid"; readonly reason: string };

/** Configurations repeat their expressions: what was found about each is kept, up to this many, and up to a length that makes a few megabytes of all. */
const keptLimit = 10_000;
const keptLength = 500;
const kept = new Map<string, RegexVerdict>();

/**
 * Whether a regular expression is one of RE2, which is what Envoy and gRPC read, and about how many instructions its program has (RE2's own count differs
 * by a few, and by more for ranges). An invalid expression ends some clients' processes, so that it must not reach them.
 */
export function judgeRegex(expression: string): RegexVerdict {
  const before = kept.get(expression);
  if (before !== undefined) return before;
  const verdict = compile(expression);
  if (expression.length > keptLength) return verdict;
  if (kept.size >= keptLimit) kept.clear();
  // A copy: an expression out of YAML is a view of its file's text.
  kept.set(Buffer.from(expression).toString(), verdict);
  return verdict;
}

/** Programs that may have more instructions than these are measured, not compiled: ten characters can stand for thousands. */
const mostCompiled = 150;

/**
 * The instructions for which RE2 has room in Envoy (64 MB), which refuses more as "pattern too large - compile failed", whatever its settings: Envoy 1.40
 * takes 698 times ab{1000} and 349 times (?:a?){999}, and not 699 and 350. Others' RE2 has room for fewer, 87,381. What may be smaller, because RE2 joins
 * its parts (a*a{0,999}) or shares them (a{1000}|a{1000}), is not refused.
 */
const room = 699_050;

function compile(expression: string): RegexVerdict {
  try {
    // One byte, \C, is all that RE2 has and its port to JavaScript has not.
    const ported = expression.replaceAll(/\\./gs, (pair) => (pair === "\\C" ? "." : pair));
    const { plain, short, size, least, repeats } = shapeOfRegex(ported, isUnicodeClass);
    const small = size <= mostCompiled;
    const compiled = RE2JS.compile(small ? plain : short).programSize();
    if (repeats > mostRepeats)
      return { kind: "invalid", reason: `invalid repeat count: ${repeats} by repetitions inside each other` };
    if (least > room)
      return { kind: "invalid", reason: `pattern too large: its program has more than ${room} instructions` };
    if (small) return { kind: "valid", size: compiled };
    return { kind: "valid", size: compiled + size - shapeOfRegex(short, isUnicodeClass).size };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", reason: `${reason.replace(/^error parsing regexp: /, "")}${unsupported(expression)}` };
  }
}

const unicodeClasses = new Set<string>();

/** Such as \pL and \P{Greek}. */
function isUnicodeClass(word: string): boolean {
  if (unicodeClasses.has(word)) return true;
  try {
    RE2JS.compile(word);
  } catch {
    return false;
  }
  if (unicodeClasses.size >= keptLimit) unicodeClasses.clear();
  unicodeClasses.add(word);
  return true;
}

function unsupported(expression: string): string {
  if (/\(\?<?[=!]/.test(expression)) return " (RE2 has no look-ahead and look-behind)";
  return /\\[1-9]/.test(expression) ? " (RE2 has no back references)" : "";
}
