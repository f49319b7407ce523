import { RE2JS } from "re2js";

/** Configurations repeat their expressions: what was found about each is kept, up to this many. */
const keptLimit = 10_000;
const kept = new Map<string, string | undefined>();

/**
 * Why a regular expression is not one of RE2, which is what Envoy and gRPC read; undefined where it is one.
 * An invalid expression ends some clients' processes, so that it must not reach them.
 */
export function regexProblem(expression: string): string | undefined {
  if (kept.has(expression)) return kept.get(expression);
  const problem = compileProblem(expression);
  if (kept.size >= keptLimit) kept.clear();
  kept.set(expression, problem);
  return problem;
}

function compileProblem(expression: string): string | undefined {
  try {
    RE2JS.compile(expression);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `${reason.replace(/^error parsing regexp: /, "")}${unsupported(expression)}`;
  }
}

function unsupported(expression: string): string {
  if (/\(\?<?[=!]/.test(expression)) return " (RE2 has no look-ahead and look-behind)";
  return /\\[1-9]/.test(expression) ? " (RE2 has no back references)" : "";
}
