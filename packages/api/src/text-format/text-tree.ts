import { nestingLimit } from "../text/source-document.js";

/** A message in text format as it is written: fields with positions, without their meaning. */
export interface TextMessage {
  readonly fields: readonly TextField[];
}

/** One field as it is written. A repeated one occurs several times, or once with a list. */
export interface TextField {
  /** Such as `name`, `[type.googleapis.com/envoy.config.cluster.v3.Cluster]`, or `[package.extension]`. */
  readonly name: string;
  readonly offset: number;
  readonly values: readonly TextValue[];
  /** Whether the values are in `[…]`. */
  readonly list: boolean;
  /** Whether a colon follows the name: only messages may omit it. */
  readonly colon: boolean;
}

/** A value: a message, or the source text of a scalar. */
export type TextValue =
  | { readonly kind: "message"; readonly offset: number; readonly message: TextMessage }
  | { readonly kind: "scalar"; readonly offset: number; readonly source: string };

/** The text is not well-formed. */
export class TextProblem extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface TextToken {
  readonly kind: "name" | "number" | "string" | "mark" | "end";
  readonly text: string;
  readonly offset: number;
}

const word = /[A-Za-z_][\w]*/y;
const number = /[0-9.][\w.]*(?:(?<=[eE])[-+]\d+)?/y;
const bracketed = /\[[\w\s./%~-]*\]/y;

/** Reads the structure of a text format message. Throws TextProblem. */
export function parseTextTree(text: string): TextMessage {
  return new TreeReader(text).document();
}

/**
 * Fields of a text: the protobuf library reads it whole, and needs some 700 bytes for each. Ordinary files have that
 * many in ten megabytes.
 */
const maxFields = 500_000;

class TreeReader {
  private readonly text: string;
  private at: number;
  private values = 0;
  private readonly last: LastRead = {};

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  document(): TextMessage {
    return this.message("", 0);
  }

  /** The fields up to the closing mark, or to the end of the text if that is empty. */
  message(close: string, depth: number): TextMessage {
    if (depth > nestingLimit) throw new TextProblem(this.at, `nested deeper than ${nestingLimit} levels`);
    const fields: TextField[] = [];
    for (;;) {
      const token = this.peek();
      if (token.kind === "end") {
        if (close === "") return { fields };
        throw new TextProblem(token.offset, `the text ends where ${close} is expected: was it cut off?`);
      }
      if (token.text === close) {
        this.take(token);
        return { fields };
      }
      fields.push(this.field(depth));
      const separator = this.peek();
      if (separator.text === "," || separator.text === ";") this.take(separator);
    }
  }

  private field(depth: number): TextField {
    const token = this.peek();
    let name = token.text;
    if (token.text === "[") name = this.bracketedName(token.offset);
    else if (token.kind === "name") this.take(token);
    else throw new TextProblem(token.offset, `expected a field's name, found ${shown(token)}`);
    const colon = this.peek();
    if (colon.text === ":") this.take(colon);
    const next = this.peek();
    const field = { name, offset: token.offset, colon: colon.text === ":" };
    if (next.text !== "[") return { ...field, values: [this.value(depth)], list: false };
    this.take(next);
    return { ...field, values: this.list(depth), list: true };
  }

  private list(depth: number): readonly TextValue[] {
    const values: TextValue[] = [];
    const first = this.peek();
    if (first.text === "]") {
      this.take(first);
      return values;
    }
    for (;;) {
      values.push(this.value(depth));
      const token = this.peek();
      if (token.text !== "]" && token.text !== ",")
        throw new TextProblem(token.offset, `expected , or ], found ${shown(token)}`);
      this.take(token);
      if (token.text === "]") return values;
    }
  }

  private value(depth: number): TextValue {
    const token = this.peek();
    const { offset } = token;
    if (++this.values > maxFields)
      throw new TextProblem(offset, `more than ${maxFields} values: split the file, or write it in another form`);
    if (token.text === "{" || token.text === "<") {
      this.take(token);
      const start = this.at;
      const message = this.message(closing(token.text), depth + 1);
      return depth === 0 ? new MessageAtTop(this.text, offset, start, this.last) : { kind: "message", offset, message };
    }
    if (token.text === "-") this.take(token);
    const scalar = this.peek();
    if (scalar.kind === "mark" || scalar.kind === "end") {
      throw new TextProblem(scalar.offset, `expected a value, found ${shown(scalar)}`);
    }
    this.take(scalar);
    if (scalar.kind === "string")
      for (let more = this.peek(); more.kind === "string"; more = this.peek()) this.take(more);
    return { kind: "scalar", offset, source: this.text.slice(offset, this.at) };
  }

  private bracketedName(offset: number): string {
    const name = this.match(bracketed, offset);
    if (name === undefined) throw new TextProblem(offset, "expected a type URL or an extension's name in [ ]");
    this.at = offset + name.length;
    return name.replaceAll(/\s/g, "");
  }

  private peek(): TextToken {
    const offset = this.behindSpace();
    if (offset >= this.text.length) return { kind: "end", text: "", offset: this.text.length };
    const first = this.text[offset] ?? "";
    if (/[{}<>[\]:,;-]/.test(first)) return { kind: "mark", text: first, offset };
    if (first === '"' || first === "'") return { kind: "string", text: this.string(first, offset), offset };
    const kinds = [
      ["name", word],
      ["number", number],
    ] as const;
    for (const [kind, pattern] of kinds) {
      const text = this.match(pattern, offset);
      if (text !== undefined) return { kind, text, offset };
    }
    throw new TextProblem(offset, `unexpected ${JSON.stringify(first)}`);
  }

  /**
   * The start of the next token, after white space and comments. Not a regular expression: millions of them would
   * overflow its stack.
   */
  private behindSpace(): number {
    let at = this.at;
    for (; at < this.text.length; at++) {
      if (this.text[at] === "#") {
        at = this.text.indexOf("\n", at);
        if (at === -1) return this.text.length;
      } else if (!isSpace(this.text.charCodeAt(at))) break;
    }
    return at;
  }

  /** A string with its quotes, as it is written. */
  private string(quote: string, offset: number): string {
    for (let at = offset + 1; at < this.text.length && this.text[at] !== "\n"; at++) {
      if (this.text[at] === quote) return this.text.slice(offset, at + 1);
      if (this.text[at] === "\\" && this.text[at + 1] !== "\n") at++;
    }
    throw new TextProblem(offset, "a string without an end on its line");
  }

  private take(token: TextToken): void {
    this.at = token.offset + token.text.length;
  }

  private match(pattern: RegExp, offset: number): string | undefined {
    pattern.lastIndex = offset;
    return pattern.exec(this.text)?.[0];
  }
}

/** The message of a document that somebody looked into last. */
interface LastRead {
  of?: MessageAtTop;
  message?: TextMessage;
}

/**
 * Is read again when somebody looks into it after another one: a whole file as objects would take thirty times its
 * size.
 */
class MessageAtTop {
  readonly kind = "message";
  readonly offset: number;
  readonly #text: string;
  readonly #start: number;
  readonly #last: LastRead;

  constructor(text: string, offset: number, start: number, last: LastRead) {
    this.offset = offset;
    this.#text = text;
    this.#start = start;
    this.#last = last;
  }

  get message(): TextMessage {
    const { of, message: known } = this.#last;
    if (of === this && known !== undefined) return known;
    const message = new TreeReader(this.#text, this.#start).message(closing(this.#text[this.offset]), 1);
    Object.assign(this.#last, { of: this, message });
    return message;
  }
}

function closing(opening: string | undefined): string {
  return opening === "{" ? "}" : ">";
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code > 0x7f && /\s/.test(String.fromCharCode(code)));
}

/** Describes a token without showing a value: it may be a secret. */
function shown(token: TextToken): string {
  return token.kind === "mark" ? token.text : shownKinds[token.kind];
}

const shownKinds = { end: "the end of the text", name: "a word", number: "a number", string: "a string" };
