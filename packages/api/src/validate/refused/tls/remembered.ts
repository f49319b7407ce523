import { createHash } from "node:crypto";
import { maxKept } from "../../../errors/limits.js";
import type { SpecialProblem } from "../problem.js";

/** Milliseconds. Certificates expire. */
const longest = 60_000;

const known = new Map<string, { readonly problems: readonly SpecialProblem[]; readonly until: number }>();

/**
 * Remembers the problems of texts that many resources repeat and that take long to judge: an authority's certificates
 * stand in each cluster, and there may be a hundred of them. The texts themselves are not kept.
 */
export function remembered(
  texts: readonly string[],
  judge: () => readonly SpecialProblem[],
): readonly SpecialProblem[] {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${text.length}:`).update(text);
  const key = hash.digest("base64");
  const now = performance.now();
  const before = known.get(key);
  if (before !== undefined && now < before.until) return before.problems;
  const problems = judge();
  if (known.size >= maxKept) known.clear();
  known.set(key, { problems, until: now + longest });
  return problems;
}
