import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type CST, isMap, isScalar, isSeq, type ParsedNode, type Parser } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import type { SourceDocument } from "../text/source-document.js";
import { type EarlierItems, isMergeKey, type MergedNode, ReadingEnds } from "./yaml-reader.js";

/**
 * Tokens that the parser may keep at once, with spaces and line ends: it needs about 300 bytes for each, ten times the
 * text's own. A text that is read in parts has so many in comments at most.
 */
function maxTokens(text: string): number {
  return Math.max(300_000, Math.floor(text.length / 30));
}

/** Shorter texts are not cut: they have fewer tokens than the parser may keep. */
const longText = 65_536;

/** How a text is cut. */
export interface YamlPartsOptions {
  /** Whether a list may come as several documents, so that nothing keeps all of its values. Default: false. */
  readonly splits?: boolean;
  /** Parts end after this many tokens. Default: so few that their nodes die young; a short text has no parts. */
  readonly tokens?: number;
  /** Characters of a collection's items from which on they are worth a part. */
  readonly shortest?: number;
}

/** A collection that may still be open. */
export type YamlCollection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

/** The items that were taken out of a collection, if a node is what is left of it. */
export type Earlier = (node: ParsedNode) => EarlierItems | undefined;

/** Items that were read before their collection was complete. */
export interface PartOfDocument {
  readonly node: ParsedNode;
  readonly document: SourceDocument;
  /** The number of values in them, with aliases expanded. */
  readonly size: number;
  /** What must be merged into the mapping. */
  readonly merged: readonly MergedNode[];
}

/** Reads the text of a part again, for places. `shift`: how far in the whole text it begins. */
type ReadAgain = (text: string, shift: number) => SourceDocument | undefined;

/** How parts are read. */
export interface PartReader {
  /** Reads a part's items into a value. Undefined: its document has a mistake, here or before, and no value. */
  read(
    part: YamlCollection,
    into: JsonObject | JsonValue[],
    depth: number,
    earlier: Earlier,
  ): PartOfDocument | undefined;
  /** Reads parts of the document that is open now, also later. */
  again(): ReadAgain;
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
    const usual = text.length < longText ? Number.POSITIVE_INFINITY : 8_192;
    const { splits = false, tokens = usual, shortest = 4_096 } = options;
    this.tokens = tokens;
    this.#text = text;
    this.#splits = splits;
    this.#shortest = shortest;
    this.#reader = reader;
  }

  /**
   * Takes the complete items of all collections, in the order of the text: an alias stands for what came before. Those
   * of a list around everything may come as a document.
   */
  *take({ stack, offset }: Parser): Generator<SourceDocument> {
    this.#retained.push(offset);
    const innermost = stack.findLastIndex(isOpenCollection);
    for (const [index, token] of stack.entries()) {
      if (!isOpenCollection(token)) continue;
      const items = token.items as CST.CollectionItem[];
      const isInnermost = index === innermost;
      // The last item may be open, and comments may still move to the one before.
      const count = items.length - (isInnermost ? 2 : 1);
      const [first, rest] = [items[0], items[count]];
      if (count <= 0 || first === undefined || rest === undefined) continue;
      const start = this.#startOf(first);
      const end = this.#startOf(rest);
      if (isInnermost && end - start < this.#shortest) continue;
      const before = this.#taken.get(token.offset);
      this.#taken.delete(token.offset);
      const part = partOf(token, items.splice(0, count), start, end);
      const earlier = this.#takenWithin(start, end);
      const isRoot = index === 1;
      if (isRoot && this.#splits && isList(token)) {
        const read = this.#reader.read(part, [], 0, earlier);
        if (read !== undefined) yield read.document;
      } else {
        const taken = before ?? this.#takenOf(token);
        const read = this.#reader.read(part, taken.value, index - 1, earlier);
        if (read !== undefined) taken.add(read, { start, end }, earlier);
        this.#taken.set(end, taken);
      }
      token.offset = end;
      const from = isRoot ? 0 : (before?.offset ?? start);
      this.#retained = this.#retained.filter((at) => at < from || at >= end);
    }
    const most = maxTokens(this.#text);
    if (this.#retained.length * this.tokens > most)
      throw new ReadingEnds(offset, `more than ${most} words, marks, comments and line ends at once`);
  }

  #takenOf(token: YamlCollection): TakenItems {
    const read = this.#reader.again();
    const around = token.type === "flow-collection" ? token.start.source : "";
    return new TakenItems(token, (part) => this.#again(part, read, around));
  }

  /** Of an item, also where it begins with a collection that lost items. */
  #startOf({ start, key, sep, value }: CST.CollectionItem): number {
    const token = start[0] ?? key ?? sep?.[0] ?? value;
    if (token === undefined) return 0;
    return isOpenCollection(token) ? (this.#taken.get(token.offset)?.offset ?? token.offset) : token.offset;
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
    if (within.size === 0) return () => undefined;
    return (node) => {
      const items = within.get(node.range[0]);
      return items !== undefined && (isMap(node) || isSeq(node)) && isSeq(node) === Array.isArray(items.value)
        ? items
        : undefined;
    };
  }

  /** Reads a part again, at its own column: the first item may stand behind a dash. Or in the brackets around it. */
  #again(part: YamlPart, read: ReadAgain, around: string): ReadPart {
    const { start, end } = part;
    const text = this.#text.slice(start, end);
    const column = around === "" ? start - this.#text.lastIndexOf("\n", start - 1) - 1 : 1;
    const shift = start - column;
    if (this.#last?.part !== part) {
      const whole = around === "" ? " ".repeat(column) + text : `${around}${text}${endOf[around]}`;
      this.#last = { part, document: read(whole, shift) };
    }
    return { document: this.#last.document, shift };
  }
}

const endOf: Readonly<Record<string, string>> = { "[": "]", "{": "}" };

function isOpenCollection(token: CST.Token | CST.SourceToken): token is YamlCollection {
  return token.type === "block-map" || token.type === "block-seq" || token.type === "flow-collection";
}

function isList(token: YamlCollection): boolean {
  return token.type === "flow-collection" ? token.start.source === "[" : token.type === "block-seq";
}

/** The items as a collection of their own. What is left of a flow collection begins without a comma, as it did. */
function partOf(token: YamlCollection, items: CST.CollectionItem[], start: number, end: number): YamlCollection {
  if (token.type !== "flow-collection") return { ...token, offset: start, items } as YamlCollection;
  const rest = token.items[0]?.start;
  const comma = rest?.findIndex(({ type }) => type === "comma") ?? -1;
  if (comma >= 0) rest?.splice(comma, 1);
  const type = isList(token) ? "flow-seq-end" : "flow-map-end";
  const bracket = { type, offset: end, indent: 0, source: isList(token) ? "]" : "}" } as const;
  return { ...token, offset: start - 1, items: isList(token) ? items.map(asValue) : items, end: [bracket] };
}

/** An item of a list in brackets. The parser takes it for a key until its list is complete. */
function asValue(item: CST.CollectionItem): CST.CollectionItem {
  const { start, key, sep, value } = item;
  const isPair =
    start.some((token) => token.type === "explicit-key-ind") || sep?.some((token) => token.type === "map-value-ind");
  if (key === undefined || key === null || sep === undefined || value !== undefined || isPair) return item;
  // What stands behind it, such as a comment.
  return { start, value: "end" in key ? ({ ...key, end: [...(key.end ?? []), ...sep] } as CST.Token) : key };
}

/** Items of a collection between two offsets. */
interface YamlPart {
  readonly start: number;
  readonly end: number;
  /** How many items came before. */
  readonly first: number;
}

interface ReadPart {
  readonly document: SourceDocument | undefined;
  readonly shift: number;
}

/** The items that were taken out of one collection. */
class TakenItems implements EarlierItems {
  readonly value: JsonObject | JsonValue[];
  readonly offset: number;
  readonly merged: MergedNode[] = [];
  size = 0;
  readonly #again: (part: YamlPart) => ReadPart;
  readonly #offsets = new Map<string | number, number>();
  readonly #parts: YamlPart[] = [];

  constructor(token: YamlCollection, again: (part: YamlPart) => ReadPart) {
    this.value = isList(token) ? [] : {};
    this.offset = token.offset;
    this.#again = again;
  }

  get count(): number {
    return this.#offsets.size;
  }

  add({ node, size, merged }: PartOfDocument, range: Omit<YamlPart, "first">, earlier: Earlier): void {
    this.size += size;
    this.merged.push(...merged);
    this.#parts.push({ ...range, first: this.count });
    if (isSeq(node)) {
      for (const item of node.items as ParsedNode[])
        this.#offsets.set(this.count, earlier(item)?.offset ?? item.range[0]);
    } else if (isMap(node)) {
      for (const { key } of node.items) {
        if (!isScalar(key) || isMergeKey(key)) continue;
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
