/** The kinds of text that have a colour on a terminal. */
export type Colour = "added" | "removed" | "good" | "warning" | "error" | "quiet" | "strong";

/** Colours a text, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

const codes: { readonly [C in Colour]: readonly [number, number] } = {
  added: [32, 39],
  removed: [31, 39],
  good: [32, 39],
  warning: [33, 39],
  error: [31, 39],
  quiet: [2, 22],
  strong: [1, 22],
};

/** No colours. */
export const plain: Paint = (_, text) => text;

/** Colours for a terminal; none where `NO_COLOR` is set (https://no-color.org), or the terminal is dumb. */
export function createPaint(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Paint {
  const isPlain = !isTerminal || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  if (isPlain) return plain;
  return (colour, text) => {
    const [on, off] = codes[colour];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}
