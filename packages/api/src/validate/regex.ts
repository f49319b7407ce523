import { RE2JS } from "re2js";

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
  kept.set(expression, verdict);
  return verdict;
}

function compile(expression: string): RegexVerdict {
  try {
    // One byte, \C, is all that RE2 has and its port to JavaScript has not.
    const ported = expression.replaceAll(/\\./gs, (pair) => (pair === "\\C" ? "." : pair));
    return { kind: "valid", size: RE2JS.compile(ported).programSize() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "invalid", reason: `${reason.replace(/^error parsing regexp: /, "")}${unsupported(expression)}` };
  }
}

function unsupported(expression: string): string {
  if (/\(\?<?[=!]/.test(expression)) return " (RE2 has no look-ahead and look-behind)";
  return /\\[1-9]/.test(expression) ? " (RE2 has no back references)" : "";
}
