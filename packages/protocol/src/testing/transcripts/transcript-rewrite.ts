import type { Case } from "./transcript.js";
import { isAsWanted } from "./transcript-compare.js";
import type { Ran } from "./transcript-run.js";

/**
 * A transcript file with its expectations replaced by the code's behavior, for a person to review. A case that fails
 * for another reason stays as it is, and so does a step that passes.
 */
export function rewriteTranscript(text: string, cases: readonly Case[], run: (one: Case) => readonly Ran[]): string {
  const replaced = new Map<number, readonly string[]>();
  const dropped = new Set<number>();
  for (const one of cases) {
    let ran: readonly Ran[];
    try {
      ran = run(one);
    } catch (error) {
      console.error(`not rewritten: ${(error as Error).message}`);
      continue;
    }
    const [mode] = one.modes;
    const type = mode?.type;
    const word = type === undefined ? undefined : new RegExp(`(?<!\\w)${type.replace(/\W/g, "\\$&")}(?!\\w)`, "g");
    for (const at of ran) {
      if (mode !== undefined && isAsWanted(at, mode)) continue;
      const { step, got } = at;
      const lines = (got ?? []).map((line) => (word === undefined ? line : line.replace(word, "TYPE")));
      replaced.set(step.number, lines);
      for (const { number } of step.expected) dropped.add(number);
    }
  }
  return text
    .split("\n")
    .flatMap((line, index) => {
      const number = index + 1;
      if (dropped.has(number)) return [];
      return [line, ...(replaced.get(number) ?? [])];
    })
    .join("\n");
}
