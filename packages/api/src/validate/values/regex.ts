import { RE2JS } from "re2js";
import { messageOf } from "../../errors/findings.js";
import { maxRepeats, shapeOfRegex } from "./regex-shape.js";

/** The verdict on a regular expression: its size if it is valid RE2. */
export type RegexVerdict =
  | { readonly kind: "valid"; readonly size: number }
  | { readonly kind: "invalid"; readonly reason: string };

/**
 * Configurations repeat their expressions, so verdicts are cached: up to this many, for expressions up to a length that
 * keeps the cache at a few megabytes.
 */
const keptLimit = 10_000;
const keptLength = 500;
const kept = new Map<string, RegexVerdict>();

/**
 * Whether a regular expression is valid RE2, which Envoy and gRPC use, and about how many instructions its program has
 * (RE2's own count differs slightly, and by more for ranges). An invalid expression crashes some clients, so it must
 * not reach them.
 */
export function judgeRegex(expression: string): RegexVerdict {
  const before = kept.get(expression);
  if (before !== undefined) return before;
  const verdict = compile(expression);
  if (expression.length > keptLength) return verdict;
  if (kept.size >= keptLimit) kept.clear();
  // A copy, since an expression from YAML is a view of its file's text.
  kept.set(Buffer.from(expression).toString(), verdict);
  return verdict;
}

/** Programs with more instructions are estimated, not compiled: ten characters can mean thousands. */
const maxCompiled = 150;

/**
 * The instructions that fit into the memory of Envoy's RE2 (64 MB). Envoy refuses more as "pattern too large - compile
 * failed", whatever its settings: Envoy 1.40 accepts ab{1000} 698 times and (?:a?){999} 349 times, but not 699 and 350
 * times. RE2 elsewhere has room for fewer, 87,381. An expression that RE2 may shrink, because it merges parts
 * (a*a{0,999}) or shares them (a{1000}|a{1000}), is not refused.
 */
const room = 699_050;

function compile(expression: string): RegexVerdict {
  try {
    // RE2's \C (one byte) is the only thing that its JavaScript port lacks.
    const ported = expression.replaceAll(/\\./gs, (pair) => (pair === "\\C" ? "." : pair));
    const { plain, short, size, least, repeats } = shapeOfRegex(ported, isUnicodeClass);
    const small = size <= maxCompiled;
    const compiled = RE2JS.compile(small ? plain : short).programSize();
    if (repeats > maxRepeats)
      return { kind: "invalid", reason: `invalid repeat count: ${repeats} by repetitions inside each other` };
    if (least > room)
      return { kind: "invalid", reason: `pattern too large: its program has more than ${room} instructions` };
    if (small) return { kind: "valid", size: compiled };
    return { kind: "valid", size: compiled + size - shapeOfRegex(short, isUnicodeClass).size };
  } catch (error) {
    const reason = messageOf(error);
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
