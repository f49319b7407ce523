import type { ResourceName } from "@xdskit/api";
import { maxAlternatives } from "../../model/basics/limits.js";

/** The blame that an error detail puts on resources of the rejected response. */
export interface Blame {
  /** The resources at fault. */
  readonly names: readonly ResourceName[];
  /** True: the client uses the new content of all other resources. False: that is not known. */
  readonly usesRest: boolean;
}

/**
 * Reads one kind of text. Undefined if the text is of another kind, or names nothing. Without names, the text blames
 * resources that the response did not carry.
 */
export type TextReader = (text: string, carried: CarriedNames) => Blame | undefined;

/** The names of a response. Parts of a text are looked up in a set, so the cost does not grow with their number. */
export class CarriedNames implements Iterable<ResourceName> {
  readonly #names: Set<ResourceName>;
  readonly #longest: number;

  constructor(names: Iterable<ResourceName>) {
    this.#names = new Set(names);
    let longest = 0;
    for (const { length } of this.#names) if (length > longest) longest = length;
    this.#longest = longest;
  }

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  [Symbol.iterator](): Iterator<ResourceName> {
    return this.#names[Symbol.iterator]();
  }

  /** The longest name that stands at `from` with `end` behind it. */
  at(text: string, from: number, end: string): ResourceName | undefined {
    const part = text.slice(from, from + this.#longest + end.length);
    let found: ResourceName | undefined;
    let to = part.indexOf(end);
    // A name may contain the separator once or twice, a hostile text a thousand times.
    for (let tried = 0; to > 0 && tried < maxAlternatives; tried++) {
      const name = part.slice(0, to);
      if (this.#names.has(name)) found = name;
      to = part.indexOf(end, to + 1);
    }
    return found;
  }
}

/**
 * The names at the start of each part of a text, each followed by `end`. A separator inside of a name does not count.
 */
export function namesOfParts(
  text: string,
  carried: CarriedNames,
  { from, separator, end }: { readonly from: number; readonly separator: string; readonly end: string },
  isPart: (from: number) => boolean = () => true,
): ResourceName[] {
  const found: ResourceName[] = [];
  let at = from;
  while (true) {
    const name = isPart(at) ? carried.at(text, at, end) : undefined;
    if (name !== undefined) found.push(name);
    const next = nextSeparator(text, separator, at + (name?.length ?? 0), name);
    if (next < 0) return found;
    at = next + separator.length;
  }
}

/** The next separator that is not part of the name: reasons repeat the name. */
function nextSeparator(text: string, separator: string, from: number, name: string | undefined): number {
  const inside = name?.indexOf(separator) ?? -1;
  let next = text.indexOf(separator, from);
  while (inside >= 0 && name !== undefined && next >= 0 && text.startsWith(name, next - inside)) {
    next = text.indexOf(separator, next - inside + name.length);
  }
  return next;
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const escaped = /\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^xuU]))/y;
const plain = /[^"\\]+/y;
const utf8 = new TextDecoder();

/**
 * Reads the string with its opening quote at `at`, as Go (`%q`) and protobuf's text format write it. `end` is the
 * offset behind it. Undefined if there is no such string, or if it is cut off.
 */
export function quoted(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  let value = "";
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length > 0) value += utf8.decode(Uint8Array.from(bytes));
    bytes = [];
  };
  let position = at + 1;
  while (text[position] !== '"') {
    escaped.lastIndex = position;
    plain.lastIndex = position;
    const [whole, hex, octal, short, long, letter] = escaped.exec(text) ?? plain.exec(text) ?? [];
    if (whole === undefined) return undefined;
    position += whole.length;
    if (hex !== undefined || octal !== undefined) {
      bytes.push(hex === undefined ? Number.parseInt(octal ?? "", 8) & 0xff : Number.parseInt(hex, 16));
      continue;
    }
    flush();
    const point = short ?? long;
    if (point !== undefined) value += character(Number.parseInt(point, 16));
    else value += letter === undefined ? whole : (escapes[letter] ?? letter);
  }
  flush();
  return { value, end: position + 1 };
}

function character(point: number): string {
  return point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
}
