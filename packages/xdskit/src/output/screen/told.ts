import type { Terminal } from "../terminal.js";
import { widthOf } from "./fit.js";

/** Prints lines for people: on a terminal no line is broken inside a word. Elsewhere they stay as they are. */
export function tell(terminal: Terminal, text: string, stream: "out" | "err" = "out"): void {
  const columns = terminal.columns?.(stream);
  terminal[stream](columns === undefined ? text : wrapped(text, columns));
}

/** Lines that are longer go on below, a little further in. A word that is longer itself stays whole, to be copied. */
export function wrapped(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => (widthOf(line) <= columns ? line : wrappedLine(line, columns)))
    .join("\n");
}

function wrappedLine(line: string, columns: number): string {
  const [indent = ""] = /^ */.exec(line) ?? [];
  const rows: string[] = [];
  let row = indent;
  let isEmpty = true;
  for (const [, spaces = "", word = ""] of line.slice(indent.length).matchAll(/( *)([^ ]+)/g)) {
    if (!isEmpty && widthOf(row + spaces + word) > columns) {
      rows.push(row);
      row = `${indent}  ${word}`;
    } else row += isEmpty ? word : spaces + word;
    isEmpty = false;
  }
  return [...rows, row].join("\n");
}
