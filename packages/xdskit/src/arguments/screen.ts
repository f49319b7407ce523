import type { Screen } from "../output/screen/screen-page.js";

/** The terminal on standard output; undefined: it is none, or one that cannot move its cursor. */
export function terminalScreen(): Screen | undefined {
  const { stdout } = process;
  if (stdout.isTTY !== true || process.env.TERM === "dumb") return undefined;
  return { rows: () => stdout.rows || 24, columns: () => stdout.columns || 80 };
}
