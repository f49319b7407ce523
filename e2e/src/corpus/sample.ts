import type { Case } from "../../../packages/api/src/testing/corpus/index.js";
import { createRepeatable } from "../../../packages/api/src/testing/repeatable.js";
import type { Explanation } from "./explanations.js";

/** One in this many of the resources that are not asked about anyway. */
const oneIn = 5;

/**
 * What is asked about in each run: each extension once, the examples of what is explained, and by chance some of all
 * others. `SEED` chooses others; those that end Envoy are left out, but for their example, since each costs a start.
 */
export function sampleOf(cases: readonly Case[], explanations: readonly Explanation[]): readonly Case[] {
  const { below } = createRepeatable();
  const examples = new Set(explanations.map(({ example }) => example));
  const fatal = explanations.filter(({ kind }) => kind === "Envoy ends");
  const seen = new Set<string>();
  return cases.filter((each) => {
    const chosen = below(oneIn) === 0;
    const isNew = each.extensions.some((name) => !seen.has(name));
    for (const name of each.extensions) seen.add(name);
    if (examples.has(each.name)) return true;
    if (fatal.some((line) => line.cases?.test(each.name))) return false;
    return isNew || chosen;
  });
}
