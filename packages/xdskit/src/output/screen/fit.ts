/** Colours and other attributes of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are told colours by this character.
const attributes = /\u001b\[[0-9;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same, one at a time, or one character of text.
const pieces = /\u001b\[[0-9;]*m|./gsu;

/** How many columns of a terminal a text takes, without its colours. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text.replace(attributes, "")) width += widthOfCharacter(character);
  return width;
}

/** A text cut to this many columns, with `…` where something is missing. Its colours end with it. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let [cut, width, isColoured] = ["", 0, false];
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.startsWith("\u001b")) {
      isColoured = true;
      cut += piece;
      continue;
    }
    width += widthOfCharacter(piece);
    if (width > columns - 1) break;
    cut += piece;
  }
  return `${cut}${columns > 0 ? "…" : ""}${isColoured ? "\u001b[0m" : ""}`;
}

/** A text with spaces behind it, up to this many columns. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
}

/** How many rows a line takes on a terminal, which goes on in the next row where a line is too long. */
export function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(widthOf(line) / Math.max(1, columns)));
}

function widthOfCharacter(character: string): number {
  if (/^[\p{Mn}\p{Me}]$/u.test(character)) return 0;
  const code = character.codePointAt(0) ?? 0;
  return wide.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Characters of East Asia, and pictures, take two columns (Unicode's East Asian Width). */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];
