/** Code units of a block: a position is looked for in one. */
const blockLength = 1 << 16;

/** Where a block begins. */
interface Block {
  readonly line: number;
  /** The offset of that line's first code unit. */
  readonly start: number;
}

/**
 * Lines and columns of a text, both from 1. Columns count UTF-16 code units, as editors do. A line ends with LF, CR LF
 * or CR. Computed only when something is wrong.
 */
export class LineIndex {
  readonly #text: string;
  /** The start and number of the last requested line: positions mostly come in order. */
  #start = 0;
  #line = 1;
  /** The first offset behind that line and its end. */
  #next = -1;
  /** Computed when somebody asks for an earlier line than before. */
  #blocks: readonly Block[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The position of the code unit at an offset from 0. */
  at(offset: number): { readonly line: number; readonly column: number } {
    if (offset < this.#start) {
      this.#blocks ??= blocksOf(this.#text);
      const block = this.#blocks[Math.floor(offset / blockLength)] ?? { line: 1, start: 0 };
      this.#line = block.line;
      this.#start = block.start;
      this.#next = -1;
    }
    if (this.#next === -1) this.#next = nextLine(this.#text, this.#start);
    while (this.#next <= offset) {
      this.#start = this.#next;
      this.#line += 1;
      this.#next = nextLine(this.#text, this.#start);
    }
    return { line: this.#line, column: offset - this.#start + 1 };
  }
}

/** The start of the line after the one with this start. */
function nextLine(text: string, start: number): number {
  const feed = text.indexOf("\n", start);
  const end = feed === -1 ? text.length : feed;
  // Almost no text has a CR alone.
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === 0x0d && at + 1 !== feed) return at + 1;
  return feed === -1 ? Number.POSITIVE_INFINITY : feed + 1;
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let start = 0;
  let next = nextLine(text, 0);
  let line = 1;
  for (let at = 0; at <= text.length; at += blockLength) {
    while (next <= at) {
      start = next;
      line += 1;
      next = nextLine(text, start);
    }
    blocks.push({ line, start });
  }
  return blocks;
}
