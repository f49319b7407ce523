import { matchesGlob } from "../../basics/glob.js";
import type { Captured } from "./text-pattern.js";

const placeholder = /\{([A-Za-z_][A-Za-z0-9_]*)\}/;

/**
 * Whether a value of a node is one that the pattern allows, such as `{sa}.{ns}.*`, with what was proved put in its
 * places; `*` stands for any text, and `?` for one character.
 *
 * What was proved may hold no character that has a meaning here: with `{sa}.{ns}.*`, `sa` `a` and `ns` `b.c` would
 * allow the ids of `sa` `a.b` and `ns` `c`.
 */
export function fitsNode(pattern: string, captured: Captured, value: string): boolean {
  const pieces = pattern.split(placeholder);
  let filled = "";
  // Every second piece is a name.
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 0) {
      filled += piece;
      continue;
    }
    const proved = captured.get(piece);
    if (proved === undefined || /[*?]/.test(proved)) return false;
    const borders = [(pieces[index - 1] ?? "").at(-1), (pieces[index + 1] ?? "").at(0)];
    if (borders.some((border) => border !== undefined && proved.includes(border))) return false;
    filled += proved;
  }
  return matchesGlob(filled, value);
}

/** What is wrong with a pattern that gets these names; undefined: nothing. */
export function nodePatternFault(pattern: string, names: readonly string[]): string | undefined {
  if (pattern === "") return "it must not be empty";
  const pieces = pattern.split(placeholder);
  for (let index = 1; index < pieces.length; index += 2) {
    const name = pieces[index] as string;
    if (!names.includes(name)) return `{${name}} is in no pattern of "when"`;
    const next = pieces[index + 1] ?? "";
    const isLast = index + 2 >= pieces.length;
    if (next === "" && !isLast) return "two {names} need a character between them";
    const borders = [(pieces[index - 1] ?? "").at(-1), next.at(0)];
    if (borders.some((border) => border === "*" || border === "?"))
      return `{${name}} needs a character between it and * or ?, or it stands for more than was proved`;
  }
  if (pieces.some((piece, index) => index % 2 === 0 && /[{}]/.test(piece)))
    return "a { or } stands alone: what was proved is written {name}";
  return undefined;
}
