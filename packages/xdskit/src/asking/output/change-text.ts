import { type DiffLine, diffLines } from "@xdskit/admin/line-diff";
import { printable } from "@xdskit/api";
import type { Paint } from "../../output/colours.js";

/** How many unchanged lines around a difference are shown. */
const context = 2;
/** The most lines of one change that are shown. */
const maxLines = 200;
const longestLine = 400;

/**
 * The differences between two YAML documents, for people: changed lines, some lines around them, and their parent keys.
 * Bounded; empty if they are equal. An empty text is a document that does not exist.
 */
export function changeText(before: string, after: string, paint: Paint): string {
  const diff = diffLines(linesOf(before), linesOf(after));
  const shown = linesToShow(diff);
  const lines: string[] = [];
  let last = -1;
  for (const index of shown) {
    if (index !== last + 1 && lines.length > 0) lines.push(paint("quiet", "  …"));
    last = index;
    const line = diff[index];
    if (line !== undefined) lines.push(paintedLine(line, paint));
  }
  const more = lines.length - maxLines;
  const kept = more > 0 ? [...lines.slice(0, maxLines), paint("quiet", `  … and ${more} more lines`)] : lines;
  return kept.map((line) => `${line}\n`).join("");
}

function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.trimEnd().split("\n");
}

const signs = { same: " ", added: "+", removed: "-" } as const;

function paintedLine({ kind, text }: DiffLine, paint: Paint): string {
  const cut = text.length > longestLine ? `${text.slice(0, longestLine)}…` : text;
  const line = `${signs[kind]} ${printable(cut)}`;
  return paint(kind === "same" ? "quiet" : kind, line);
}

/** The changed lines, the lines near them, and their parent lines, in order. */
function linesToShow(diff: readonly DiffLine[]): readonly number[] {
  const shown = new Set<number>();
  diff.forEach(({ kind }, index) => {
    if (kind === "same") return;
    const end = Math.min(diff.length - 1, index + context);
    for (let near = Math.max(0, index - context); near <= end; near += 1) shown.add(near);
  });
  // Lines after this many are not shown.
  for (const index of [...shown].slice(0, maxLines)) addParents(diff, index, shown);
  return [...shown].sort((a, b) => a - b);
}

function addParents(diff: readonly DiffLine[], start: number, shown: Set<number>): void {
  let indent = indentOf(diff[start]);
  // The line before, if it is shown, has found its parents already.
  if (shown.has(start - 1) && indentOf(diff[start - 1]) <= indent) return;
  for (let index = start - 1; index >= 0 && indent > 0; index -= 1) {
    const outer = indentOf(diff[index]);
    if (outer >= indent || diff[index]?.kind === "removed") continue;
    indent = outer;
    shown.add(index);
  }
}

function indentOf(line: DiffLine | undefined): number {
  return line?.text.search(/\S|$/) ?? 0;
}
