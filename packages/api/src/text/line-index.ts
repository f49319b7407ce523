/**
 * Lines and columns of a text, both from 1. Columns count UTF-16 code units, as editors do. Computed only when
 * something is wrong.
 */
export class LineIndex {
  readonly #text: string;
  /** The start and number of the last requested line: positions mostly come in order. */
  #start = 0;
  #line = 1;
  /** The end of that line. */
  #end = -1;
  /** The start of each line, computed when somebody asks for an earlier line than before. */
  #starts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The position of the code unit at an offset from 0. */
  at(offset: number): { readonly line: number; readonly column: number } {
    if (offset < this.#start) {
      this.#starts ??= startsOfLines(this.#text);
      const line = lineAt(this.#starts, offset);
      return { line, column: offset - (this.#starts[line - 1] ?? 0) + 1 };
    }
    if (this.#end === -1) this.#end = this.#endOfLine();
    while (this.#end < offset) {
      this.#start = this.#end + 1;
      this.#line += 1;
      this.#end = this.#endOfLine();
    }
    return { line: this.#line, column: offset - this.#start + 1 };
  }

  #endOfLine(): number {
    const end = this.#text.indexOf("\n", this.#start);
    return end === -1 ? Number.POSITIVE_INFINITY : end;
  }
}

function startsOfLines(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
