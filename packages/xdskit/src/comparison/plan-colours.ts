import { type Paint, plain } from "../output/colours.js";

/** Highlights stages, and in them additions and removals. */
export function colouredPlan(text: string, paint: Paint): string {
  if (paint === plain) return text;
  const lines = text.split("\n").map((line) => {
    if (/^\d+\. /.test(line)) return paint("strong", line);
    if (/^ +\+ /.test(line)) return paint("added", line);
    return /^ +- /.test(line) ? paint("removed", line) : line;
  });
  return lines.join("\n");
}
