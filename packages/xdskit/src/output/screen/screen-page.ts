import type { Terminal } from "../terminal.js";
import { cutToWidth, rowsOf } from "./fit.js";

/** The size of a terminal now. */
export interface Screen {
  readonly rows: () => number;
  readonly columns: () => number;
}

/** A page that is shown again and again. */
export interface ScreenPage {
  show(text: string): void;
  /** Says why there is no new page. */
  problem(text: string): void;
  /** No page follows: what comes next stands below the last one. */
  end(): void;
}

const home = "\u001b[H";
const clearAll = "\u001b[2J";
const clearRest = "\u001b[J";
const clearLine = "\u001b[K";
const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";

/**
 * On a terminal each page replaces the one before, and is cut at the bottom: a line that goes on in a second row counts
 * as two. Elsewhere pages follow each other.
 */
export function createScreenPage(terminal: Terminal, screen: Screen | undefined): ScreenPage {
  if (screen === undefined) return { show: terminal.out, problem: (text) => terminal.err(`${text}\n`), end: () => {} };
  let hasBegun = false;
  const draw = (text: string) => {
    const begin = hasBegun ? home : `${hideCursor}${clearAll}${home}`;
    hasBegun = true;
    const lines = fittingLines(text.trimEnd().split("\n"), Math.max(3, screen.rows() - 1), screen.columns());
    terminal.out(`${begin}${lines.map((line) => `${line}${clearLine}\n`).join("")}${clearRest}`);
  };
  return {
    show: draw,
    problem: draw,
    end() {
      if (hasBegun) terminal.out(showCursor);
    },
  };
}

/** The first lines that fit into this many rows; the last says how many do not. */
function fittingLines(lines: readonly string[], rows: number, columns: number): readonly string[] {
  // A row that is filled to the end would be cleared, or wrapped, differently by each terminal.
  const width = Math.max(1, columns - 1);
  const all = lines.reduce((sum, line) => sum + rowsOf(line, width), 0);
  if (all <= rows) return lines;
  const kept: string[] = [];
  let used = 0;
  for (const line of lines) {
    used += rowsOf(line, width);
    if (used > rows - 1) break;
    kept.push(line);
  }
  const left = lines.length - kept.length;
  return [...kept, cutToWidth(`… and ${left} more ${left === 1 ? "line" : "lines"}`, width)];
}
