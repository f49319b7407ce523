import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type CST, isMap, isScalar, isSeq, type ParsedNode, type Parser } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import type { SourceDocument } from "../text/source-document.js";
import { type EarlierItems, ReadingEnds } from "./yaml-reader.js";

/**
 * Tokens that the parser may keep at once, with spaces and line ends: it needs about 300 bytes for each, ten times the
 * text's own. Only flow collections, comments and mappings with a merge key are kept whole.
 */
export function maxTokens(text: string): number {
  return Math.max(100_000, Math.floor(text.length / 30));
}

/** Thrown where they are too many. */
export class TooManyTokens extends ReadingEnds {
  constructor(offset: number, text: string) {
    const count = maxTokens(text);
    super(
      offset,
      `more than ${count} words, marks, comments and line ends at once: write a list of resources, or JSON`,
    );
  }
}

/** How a text is cut. */
export interface YamlPartsOptions {
  /** Whether a list may come as several documents, so that nothing keeps all of its values. Default: false. */
  readonly splits?: boolean;
  /** Parts end after this many tokens: their nodes are few enough to die young. */
  readonly tokens?: number;
  /** Characters of a collection's items from which on they are worth a part. */
  readonly shortest?: number;
}

/** A block collection that may still be open. */
type YamlCollection = CST.BlockMap | CST.BlockSequence;

/** The items that were taken out of a collection, if a node is what is left of it. */
export type Earlier = (node: ParsedNode) => EarlierItems | undefined;

/** Items that were read before their collection was complete. */
export interface PartOfDocument {
  readonly node: ParsedNode;
  readonly document: SourceDocument;
  /** The number of values in them, with aliases expanded. */
  readonly size: number;
}

/** How parts are read. */
export interface PartReader {
  /** Reads a part's items into a value. Undefined: its document has a mistake, here or before, and no value. */
  read(
    part: YamlCollection,
    into: JsonObject | JsonValue[],
    depth: number,
    earlier: Earlier,
  ): PartOfDocument | undefined;
  /** Reads the text of a part again, for places. `shift`: how far in the whole text it begins. */
  again(text: string, shift: number): SourceDocument | undefined;
}

/**
 * Reads a long text in parts. The parser keeps the tokens and nodes of a whole document, some eighty times the memory
 * of its text. So after some thousand tokens the open collections lose the items that are complete, to which the parser
 * does not come back: these are read, and only their values stay. Places in them are found in their text, later.
 */
export class YamlParts {
  /** Parts end after so many. */
  readonly tokens: number;
  readonly #text: string;
  readonly #splits: boolean;
  readonly #shortest: number;
  readonly #reader: PartReader;
  /** By the offset of what is left of their collections. */
  readonly #taken = new Map<number, TakenItems>();
  /** Where parts ended whose tokens are still there. */
  #retained: number[] = [];
  #last: { readonly part: YamlPart; readonly document: SourceDocument | undefined } | undefined;

  constructor(text: string, options: YamlPartsOptions, reader: PartReader) {
    const { splits = false, tokens = 8_192, shortest = 4_096 } = options;
    this.tokens = tokens;
    this.#text = text;
    this.#splits = splits;
    this.#shortest = shortest;
    this.#reader = reader;
  }

  /** Takes the complete items of all collections. Those of a list around everything may come as a document. */
  *take({ stack, offset }: Parser): Generator<SourceDocument> {
    this.#retained.push(offset);
    for (const [index, token] of stack.entries()) {
      if (token.type !== "block-map" && token.type !== "block-seq") continue;
      const items = token.items as CST.CollectionItem[];
      // The last item may be open, and comments may still move to the one before.
      const rest = items.at(-2);
      if (rest === undefined) continue;
      const start = startOfItem(items[0] ?? rest);
      const end = startOfItem(rest);
      // What is merged comes behind all keys.
      if (end - start < this.#shortest || items.some(isMerge)) continue;
      const before = this.#taken.get(token.offset);
      this.#taken.delete(token.offset);
      const part = { ...token, offset: start, items: items.splice(0, items.length - 2) } as YamlCollection;
      const earlier = this.#takenWithin(start, end);
      const isRoot = index === 1;
      if (isRoot && this.#splits && token.type === "block-seq") {
        const read = this.#reader.read(part, [], 0, earlier);
        if (read !== undefined) yield read.document;
      } else {
        const taken = before ?? new TakenItems(token, (again) => this.#again(again));
        const read = this.#reader.read(part, taken.value, index - 1, earlier);
        if (read !== undefined) taken.add(read, { start, end }, earlier);
        this.#taken.set(end, taken);
      }
      token.offset = end;
      const from = isRoot ? 0 : (before?.offset ?? start);
      this.#retained = this.#retained.filter((at) => at < from || at >= end);
    }
    if (this.#retained.length * this.tokens > maxTokens(this.#text)) throw new TooManyTokens(offset, this.#text);
  }

  /** What was taken out of a document. */
  endOfDocument(): Earlier {
    this.#retained = [];
    return this.#takenWithin(0, Number.POSITIVE_INFINITY);
  }

  #takenWithin(start: number, end: number): Earlier {
    const within = new Map<number, TakenItems>();
    for (const [offset, items] of this.#taken) {
      if (offset < start || offset >= end) continue;
      within.set(offset, items);
      this.#taken.delete(offset);
    }
    return (node) => {
      const items = within.get(node.range[0]);
      return items !== undefined && (isMap(node) || isSeq(node)) && isSeq(node) === Array.isArray(items.value)
        ? items
        : undefined;
    };
  }

  /** Reads a part again, at its own column: the first item may stand behind a dash. */
  #again(part: YamlPart): { readonly document: SourceDocument | undefined; readonly shift: number } {
    const { start, end } = part;
    const column = start - this.#text.lastIndexOf("\n", start - 1) - 1;
    const shift = start - column;
    if (this.#last?.part !== part)
      this.#last = { part, document: this.#reader.again(" ".repeat(column) + this.#text.slice(start, end), shift) };
    return { document: this.#last.document, shift };
  }
}

/** Items of a collection between two offsets. */
interface YamlPart {
  readonly start: number;
  readonly end: number;
  /** How many items came before. */
  readonly first: number;
}

type ReadAgain = (part: YamlPart) => { readonly document: SourceDocument | undefined; readonly shift: number };

/** The items that were taken out of one collection. */
class TakenItems implements EarlierItems {
  readonly value: JsonObject | JsonValue[];
  readonly offset: number;
  size = 0;
  readonly #again: ReadAgain;
  readonly #offsets = new Map<string | number, number>();
  readonly #parts: YamlPart[] = [];

  constructor({ type, offset }: YamlCollection, again: ReadAgain) {
    this.value = type === "block-seq" ? [] : {};
    this.offset = offset;
    this.#again = again;
  }

  get count(): number {
    return this.#offsets.size;
  }

  add({ node, size }: PartOfDocument, range: Omit<YamlPart, "first">, earlier: Earlier): void {
    this.size += size;
    this.#parts.push({ ...range, first: this.count });
    if (isSeq(node)) {
      for (const item of node.items as ParsedNode[])
        this.#offsets.set(this.count, earlier(item)?.offset ?? item.range[0]);
    } else if (isMap(node)) {
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (!this.has(name)) this.#offsets.set(name, key.range?.[0] ?? 0);
      }
    }
  }

  has(key: string | number): boolean {
    return this.#offsets.has(key);
  }

  locate(key: string | number, rest: readonly FieldStep[]): number {
    const offset = this.#offsets.get(key) ?? this.offset;
    const part = this.#parts.findLast(({ start }) => start <= offset);
    if (rest.length === 0 || part === undefined) return offset;
    const { document, shift } = this.#again(part);
    const step = typeof key === "number" ? key - part.first : { key };
    return document === undefined ? offset : shift + document.locate([step, ...rest]);
  }
}

function isMerge({ key }: CST.CollectionItem): boolean {
  return key?.type === "scalar" && key.source === "<<";
}

function startOfItem({ start, key, sep, value }: CST.CollectionItem): number {
  return (start[0] ?? key ?? sep?.[0] ?? value)?.offset ?? 0;
}
