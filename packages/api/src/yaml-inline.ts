import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { setOwn } from "./source-document.js";

/** Thrown at whatever the quick reader of YAML leaves to the real parser. */
export class Unusual extends Error {}

const simpleQuotes = /"[^"\\\n]*"|'[^'\n]*'/y;
const escapedQuotes = /"[^"\\\n]*(?:\\["\\/bfnrt][^"\\\n]*)+"/y;
const plainKey = /[A-Za-z0-9_/][A-Za-z0-9_./$-]*/y;
/** In `[…]` and `{…}`: without spaces, colons and all that has a meaning there. */
const flowPlain = /[A-Za-z0-9_/.-][A-Za-z0-9_./$-]*/y;
const nestingLimit = 32;

/** Reads what stands on one line: keys, scalars, and flow collections that end on it. */
export class YamlInline {
  private readonly text: string;
  /** Behind what was read last. */
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  skipSpaces(from: number): number {
    let at = from;
    while (this.text.charCodeAt(at) === 0x20) at++;
    return at;
  }

  /** Whether the line ends here, perhaps with a comment. A comment needs a space before it, or the beginning of the line. */
  isLineEnd(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === 0x0a || Number.isNaN(code) || (code === 0x23 && this.text.charCodeAt(at - 1) === 0x20);
  }

  /** Offset of the colon behind the key that begins here; -1 where there is no simple key. */
  keyEnd(start: number): number {
    const end = this.match(this.isQuote(start) ? simpleQuotes : plainKey, start);
    if (end === -1 || end - start > 1000 || this.text.charCodeAt(end) !== 0x3a) return -1;
    const after = this.text.charCodeAt(end + 1);
    return after === 0x20 || after === 0x0a || Number.isNaN(after) ? end : -1;
  }

  /** The key between its beginning and its colon. */
  key(start: number, end: number): string {
    return this.isQuote(start) ? this.text.slice(start + 1, end - 1) : this.text.slice(start, end);
  }

  /** The value that begins here and is the rest of the line. */
  value(start: number): JsonValue {
    const first = this.text.charCodeAt(start);
    let value: JsonValue;
    if (first === 0x5b || first === 0x7b) value = this.flow(start, 0);
    else if (this.isQuote(start)) value = this.quoted(start);
    else return this.plain(start);
    if (!this.isLineEnd(this.skipSpaces(this.at))) throw new Unusual();
    return value;
  }

  private plain(start: number): JsonValue {
    const lineEnd = this.text.indexOf("\n", start);
    let source = this.text.slice(start, lineEnd === -1 ? undefined : lineEnd);
    const comment = source.indexOf(" #");
    if (comment !== -1) source = source.slice(0, comment);
    source = source.trimEnd();
    if (source.includes(": ") || source.endsWith(":")) throw new Unusual();
    return plainValue(source);
  }

  private quoted(start: number): string {
    const end = this.match(simpleQuotes, start);
    if (end !== -1) {
      // Two single quotes in quotes are one: not so simple.
      if (this.text.charCodeAt(start) === 0x27 && this.text.charCodeAt(end) === 0x27) throw new Unusual();
      this.at = end;
      return this.text.slice(start + 1, end - 1);
    }
    const escaped = this.match(escapedQuotes, start);
    if (escaped === -1) throw new Unusual();
    this.at = escaped;
    return this.text
      .slice(start + 1, escaped - 1)
      .replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter);
  }

  private flow(start: number, depth: number): JsonValue {
    if (depth > nestingLimit) throw new Unusual();
    const first = this.text[start];
    if (first === "[") return this.flowList(start, depth);
    if (first === "{") return this.flowMapping(start, depth);
    if (this.isQuote(start)) return this.quoted(start);
    const end = this.match(flowPlain, start);
    if (end === -1) throw new Unusual();
    this.at = end;
    return plainValue(this.text.slice(start, end));
  }

  private flowList(start: number, depth: number): JsonValue {
    const list: JsonValue[] = [];
    let at = this.skipSpaces(start + 1);
    if (this.text[at] === "]") {
      this.at = at + 1;
      return list;
    }
    for (;;) {
      list.push(this.flow(at, depth + 1));
      at = this.skipSpaces(this.at);
      const separator = this.text[at];
      this.at = at + 1;
      if (separator === "]") return list;
      if (separator !== ",") throw new Unusual();
      at = this.skipSpaces(at + 1);
    }
  }

  private flowMapping(start: number, depth: number): JsonValue {
    const object: JsonObject = {};
    let at = this.skipSpaces(start + 1);
    if (this.text[at] === "}") {
      this.at = at + 1;
      return object;
    }
    for (;;) {
      const colon = this.keyEnd(at);
      if (colon === -1 || this.text[colon + 1] !== " ") throw new Unusual();
      const key = this.key(at, colon);
      if (Object.hasOwn(object, key)) throw new Unusual();
      setOwn(object, key, this.flow(this.skipSpaces(colon + 1), depth + 1));
      at = this.skipSpaces(this.at);
      const separator = this.text[at];
      this.at = at + 1;
      if (separator === "}") return object;
      if (separator !== ",") throw new Unusual();
      at = this.skipSpaces(at + 1);
    }
  }

  private isQuote(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === 0x22 || code === 0x27;
  }

  /** Offset behind the match that begins exactly here, or -1. */
  private match(pattern: RegExp, at: number): number {
    pattern.lastIndex = at;
    return pattern.test(this.text) ? pattern.lastIndex : -1;
  }
}

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** A plain scalar by YAML's core schema. */
function plainValue(source: string): JsonValue {
  const first = source.charCodeAt(0);
  const isLetter = (first >= 0x61 && first <= 0x7a) || (first >= 0x41 && first <= 0x5a);
  if (isLetter) return source.length <= 5 ? word(source) : source;
  if (first === 0x5f || first === 0x2f) return source;
  const isNumberLike = (first >= 0x30 && first <= 0x39) || (first === 0x2d && /^-[0-9A-Za-z]/.test(source));
  if (!isNumberLike) throw new Unusual();
  if (/^-?(?:0|[1-9][0-9]{0,14})$/.test(source)) return Number(source);
  if (/^-?[0-9]+\.[0-9]+$/.test(source)) return Number(source);
  // Octal, hexadecimal, exponents, leading zeros, too long: the real parser knows.
  if (/^(?:-?[0-9]+\.?|0o[0-7]+|0x[0-9a-fA-F]+|-?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+)$/.test(source))
    throw new Unusual();
  return source;
}

function word(source: string): JsonValue {
  switch (source) {
    case "null":
    case "Null":
    case "NULL":
      return null;
    case "true":
    case "True":
    case "TRUE":
      return true;
    case "false":
    case "False":
    case "FALSE":
      return false;
    default:
      return source;
  }
}
