import type { FieldStep } from "../errors/field-path.js";
import { keysOfStep } from "../text/source-document.js";
import { endOfString, inDoubleQuotes } from "./json-strings.js";

/**
 * The places of the parts of a JSON text that was read before, strict or as Envoy reads it. What nobody asks for is
 * skipped, so that a place costs no memory for the values before it. The parts of each list and mapping on the way are
 * found once.
 */
export class JsonPlaces {
  readonly #text: string;
  readonly #start: number;
  /** The parts of the lists and mappings at these offsets. */
  readonly #known = new Map<number, JsonParts>();

  constructor(text: string) {
    this.#text = text;
    this.#start = behindSpace(text, 0);
  }

  /** The offset of the part at these steps (of its key, in a mapping), or of the deepest part that exists. */
  locate(steps: readonly FieldStep[]): number {
    let value = this.#start;
    let offset = value;
    for (const step of steps) {
      const parts = this.#partsAt(value);
      if (Array.isArray(parts)) {
        const item = typeof step === "number" ? (parts[step] as number | undefined) : undefined;
        if (item === undefined) return offset;
        offset = value = item;
      } else {
        const key = keysOfStep(step)
          .map((name) => (parts as KeyOffsets | undefined)?.get(name))
          .find((found) => found !== undefined);
        if (key === undefined) return offset;
        offset = key;
        value = this.#behindColon(endOfKey(this.#text, key));
      }
    }
    return offset;
  }

  #partsAt(value: number): JsonParts {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const first = this.#text[value];
    const parts = first === "[" ? this.#itemsOf(value) : first === "{" ? this.#keysOf(value) : undefined;
    this.#known.set(value, parts);
    return parts;
  }

  #itemsOf(list: number): readonly number[] {
    const items: number[] = [];
    for (let at = behindSpace(this.#text, list + 1); !this.#isEnd(at); at = this.#behindComma(at)) {
      items.push(at);
      at = endOfValue(this.#text, at);
    }
    return items;
  }

  #keysOf(mapping: number): KeyOffsets {
    const keys = new Map<string, number>();
    for (let at = behindSpace(this.#text, mapping + 1); !this.#isEnd(at); at = this.#behindComma(at)) {
      const end = endOfKey(this.#text, at);
      keys.set(nameOf(this.#text.slice(at, end)), at);
      at = endOfValue(this.#text, this.#behindColon(end));
    }
    return keys;
  }

  #isEnd(at: number): boolean {
    const mark = this.#text[at];
    return mark === undefined || mark === "]" || mark === "}";
  }

  #behindComma(at: number): number {
    const comma = behindSpace(this.#text, at);
    return this.#text[comma] === "," ? behindSpace(this.#text, comma + 1) : comma;
  }

  #behindColon(at: number): number {
    return behindSpace(this.#text, behindSpace(this.#text, at) + 1);
  }
}

type KeyOffsets = ReadonlyMap<string, number>;
type JsonParts = readonly number[] | KeyOffsets | undefined;

function behindSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27;
}

/** A key without quotes is a word. */
function endOfKey(text: string, start: number): number {
  if (isQuote(text.charCodeAt(start))) return endOfString(text, start) + 1;
  let end = start;
  while (end < text.length && /\w/.test(text[end] ?? "")) end++;
  return end;
}

function nameOf(written: string): string {
  return isQuote(written.charCodeAt(0)) ? (JSON.parse(inDoubleQuotes(written)) as string) : written;
}

/** The end of the value that begins here. Quotes inside of a string of the other kind are part of it. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isQuote(code)) {
      at = endOfString(text, at);
      if (depth === 0) return at + 1;
    } else if (code === 0x7b /* { */ || code === 0x5b /* [ */) {
      depth++;
    } else if (code === 0x7d /* } */ || code === 0x5d /* ] */) {
      if (depth <= 1) return depth === 0 ? at : at + 1;
      depth--;
    } else if (depth === 0 && (code === 0x2c /* , */ || isSpace(code))) {
      return at;
    }
  }
  return text.length;
}
