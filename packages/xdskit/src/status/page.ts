import { printable } from "../output/printable.js";
import type { Terminal } from "../output/terminal.js";

/** The number of lines of the terminal. */
export interface Screen {
  readonly rows: () => number;
}

/** A page that is shown again and again. */
export interface Page {
  show(text: string): void;
  /** Says why there is no new page. */
  problem(text: string): void;
}

const home = "\u001b[H";
const clearRest = "\u001b[J";
const clearLine = "\u001b[K";

/** On a terminal each page replaces the one before, and is cut at the bottom; elsewhere pages follow each other. */
export function createPage(terminal: Terminal, screen: Screen | undefined): Page {
  if (screen === undefined) {
    return { show: terminal.out, problem: (text) => terminal.err(`xdskit status: ${printable(text)}\n`) };
  }
  const draw = (text: string) => {
    const lines = text.trimEnd().split("\n");
    const room = Math.max(3, screen.rows() - 1);
    const cut =
      lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`];
    terminal.out(`${home}${cut.map((line) => `${line}${clearLine}\n`).join("")}${clearRest}`);
  };
  return { show: draw, problem: (text) => draw(`xdskit status: ${printable(text)}\n`) };
}
