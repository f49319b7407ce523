import { countKeys, isNumberPart, longNumber } from "../json-scan.js";
import { giveUp } from "./doubt.js";

const quote = 0x22;
const slash = 0x5c;
/** Far deeper than what is read here, and far from where `JSON.parse` ends. */
const deepest = 100;
/** Up to so many characters are compared here: calling out costs more. */
const shortText = 240;

/** `toString` looks at its arguments for longer than it takes to cut out a name. */
interface TextBytes extends Buffer {
  latin1Slice(from: number, to: number): string;
}

/** A piece of a text in ASCII, to be compared with others. */
export interface TextPiece {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

function pieceOf(bytes: Uint8Array): TextPiece {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** The text of a JSON file, in ASCII, and how far it was read. Where something stands that is not expected, reading gives up. */
export class JsonBytes {
  at = 0;
  /** How many ends of lines were passed over. */
  lines = 0;
  readonly bytes: TextBytes;
  /** Where the line begins that was asked for last, and how many are before it. */
  private lineStart = 0;
  private placedLines = 0;
  private readonly view: DataView;

  constructor(bytes: Buffer) {
    this.bytes = bytes as TextBytes;
    this.view = pieceOf(bytes).view;
  }

  /** Skips white space. The character behind it; 0 at the end. */
  space(): number {
    const { bytes } = this;
    let { at } = this;
    let code = bytes[at];
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      if (code === 0x0a) this.lines += 1;
      code = bytes[++at];
    }
    this.at = at;
    return code ?? 0;
  }

  /** The place of the next character, as people count. */
  place(): { readonly line: number; readonly column: number } {
    const { bytes, at, lines } = this;
    // Of a line that is as long as the file, only what is new is looked at.
    if (lines !== this.placedLines) {
      let start = at;
      while (bytes[start - 1] !== 0x0a) start -= 1;
      this.placedLines = lines;
      this.lineStart = start;
    }
    return { line: lines + 1, column: at - this.lineStart + 1 };
  }

  /** Takes back what was passed over since a place. */
  goBack(at: number, lines: number): void {
    this.at = at;
    this.lines = lines;
  }

  /** Passes over exactly these characters, of which so many end lines, if they come next. */
  passes(expected: TextPiece, lines: number): boolean {
    const { at } = this;
    const { length } = expected.bytes;
    const end = at + length;
    if (end > this.bytes.length) return false;
    if (length <= shortText ? !this.isNext(expected) : this.bytes.compare(expected.bytes, 0, length, at, end) !== 0)
      return false;
    this.at = end;
    this.lines += lines;
    return true;
  }

  /** Eight characters at a time: in ASCII none are a number that equals another, or that does not equal itself. */
  private isNext({ bytes: { length }, view: expected }: TextPiece): boolean {
    const { view, at } = this;
    let index = 0;
    for (; index + 8 <= length; index += 8)
      if (view.getFloat64(at + index, true) !== expected.getFloat64(index, true)) return false;
    for (; index < length; index += 1) if (view.getUint8(at + index) !== expected.getUint8(index)) return false;
    return true;
  }

  /** A copy of the characters from there on, up to a place. */
  since(from: number, to = this.at): TextPiece {
    return pieceOf(new Uint8Array(this.bytes.subarray(from, to)));
  }

  /** Passes over a string without escapes. Returns where its second quote is; the first is where reading was. */
  plainString(): number {
    if (this.bytes[this.at] !== quote) giveUp();
    this.at += 1;
    const end = this.plainEnd();
    if (end < 0) giveUp();
    this.at = end + 1;
    return end;
  }

  /** Where a string ends of which this is the first character; −1 where it has escapes. */
  plainEnd(): number {
    const { bytes } = this;
    let { at } = this;
    for (let code = bytes[at] as number; code !== quote; code = bytes[++at] as number) {
      // Also where the text ends.
      if (!(code >= 0x20) || code === slash) return -1;
    }
    return at;
  }

  /** Where a whole number ends of which this is the first digit; the same place where it is none, or a long one. */
  digitsEnd(): number {
    const { bytes, at: from } = this;
    let at = from;
    for (let code = bytes[at] as number; code >= 0x30 && code <= 0x39; code = bytes[++at] as number);
    return at - from >= longNumber || (at - from > 1 && bytes[from] === 0x30) ? from : at;
  }

  /** Of digits from there on. */
  number(from: number, to: number): number {
    let value = 0;
    for (let at = from; at < to; at += 1) value = value * 10 + (this.bytes[at] as number) - 0x30;
    return value;
  }

  /** What a string without escapes says. */
  text(): string {
    const from = this.at + 1;
    return this.bytes.latin1Slice(from, this.plainString());
  }

  /** Whether what was passed last ends here: behind a number more digits might come. */
  isEnd(): boolean {
    const code = this.bytes[this.at] ?? 0;
    return code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20;
  }

  /** Any value, as `JSON.parse` makes it. Gives up at keys that come twice, and at long numbers. */
  value(): unknown {
    const { bytes, at } = this;
    const code = bytes[at];
    if (code === quote) return this.string();
    if (code === 0x7b || code === 0x5b) return this.nested();
    let end = at;
    while (isWordPart(bytes[end] ?? 0)) end += 1;
    if (end === at || end - at >= longNumber) giveUp();
    this.at = end;
    return parsed(bytes.latin1Slice(at, end));
  }

  /** Passes over an object or a list. Returns how many keys are in it. */
  skipNested(): number {
    const { bytes } = this;
    let { at } = this;
    let depth = 0;
    let keys = 0;
    for (; ; at += 1) {
      const code = bytes[at] ?? giveUp();
      if (code === 0x0a) this.lines += 1;
      else if (code <= 0x20) continue;
      else if (code === quote) at = this.endOfString(at);
      else if (code === 0x3a) keys += 1;
      else if (code === 0x7b || code === 0x5b) {
        depth += 1;
        if (depth > deepest) giveUp();
      } else if (code === 0x7d || code === 0x5d) {
        depth -= 1;
        if (depth === 0) break;
      } else if (code >= 0x30 && code <= 0x39) {
        const from = at;
        while (isNumberPart(bytes[at + 1] ?? 0)) at += 1;
        if (at - from >= longNumber - 1) giveUp();
      }
    }
    this.at = at + 1;
    return keys;
  }

  private nested(): unknown {
    const from = this.at;
    const keys = this.skipNested();
    const value = parsed(this.bytes.latin1Slice(from, this.at));
    return countKeys(value) === keys ? value : giveUp();
  }

  private string(): unknown {
    const from = this.at;
    const { bytes } = this;
    let end = from + 1;
    for (let code = bytes[end] ?? 0; code >= 0x20 && code !== slash; code = bytes[++end] ?? 0) {
      if (code !== quote) continue;
      this.at = end + 1;
      return bytes.latin1Slice(from + 1, end);
    }
    end = this.endOfString(from);
    this.at = end + 1;
    return parsed(bytes.latin1Slice(from, end + 1));
  }

  private endOfString(start: number): number {
    const { bytes } = this;
    for (let at = start + 1; at < bytes.length; at += 1) {
      const code = bytes[at];
      if (code === quote) return at;
      if (code === slash) at += 1;
    }
    return giveUp();
  }
}

function isWordPart(code: number): boolean {
  return isNumberPart(code) || (code >= 0x61 && code <= 0x7a);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return giveUp();
  }
}
