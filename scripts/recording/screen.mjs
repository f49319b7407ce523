// A small terminal: what programs print, as rows of cells that know when they came.

/** @typedef {{ text: string, style: string, at: number }} Cell */

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what terminals read.
const pieces = /\x1b\[([?>]?)([\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[=>()][0B]?|[\r\n\b\x07]|[^\x1b\r\n\b\x07]/gu;

/** A terminal of that many columns, whose rows never end. */
export function createScreen(columns) {
  /** @type {Cell[][]} */
  const rows = [[]];
  let row = 0;
  let column = 0;
  let style = "";
  const down = () => {
    row += 1;
    rows[row] ??= [];
  };
  const put = (text, at) => {
    if (column === columns) {
      column = 0;
      down();
    }
    rows[row][column] = { text, style, at };
    column += 1;
  };
  const control = (numbers, letter) => {
    if (letter === "m") style = styleAfter(style, numbers);
    else if (letter === "K") rows[row].length = Math.min(rows[row].length, column);
    else if (letter === "G") column = Math.min(columns, numbers[0] || 1) - 1;
    else if (letter === "D") column = Math.max(0, column - (numbers[0] || 1));
    else if (letter === "C") column = Math.min(columns, column + (numbers[0] || 1));
  };
  return {
    rows,
    write(output, at) {
      for (const [piece, mark, numbers, letter] of output.matchAll(pieces)) {
        if (letter !== undefined) {
          if (mark === "") control(numbers.split(";").map(Number), letter);
        } else if (piece === "\r") column = 0;
        else if (piece === "\n") down();
        else if (piece === "\b") column = Math.max(0, column - 1);
        else if (piece >= " ") put(piece, at);
      }
    },
  };
}

/** The classes of a picture for what `ESC [ … m` says: a colour, and bold or faint. */
function styleAfter(style, numbers) {
  let classes = style.split(" ").filter((each) => each !== "");
  for (const number of numbers) {
    const isColour = (number >= 30 && number <= 37) || (number >= 90 && number <= 97);
    if (number === 0) classes = [];
    else if (number === 1) classes.push("bold");
    else if (number === 2) classes.push("faint");
    else if (number === 22) classes = classes.filter((each) => each !== "bold" && each !== "faint");
    else if (isColour || number === 39) classes = classes.filter((each) => !/^c\d$/.test(each));
    if (isColour) classes.push(`c${number % 10}`);
  }
  return [...new Set(classes)].join(" ");
}
