import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Composer, isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar } from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import { maxErrors, maxValues, tooManyValues } from "../errors/limits.js";
import {
  keysOfStep,
  nestingLimit,
  noteWritten,
  type SyntaxProblem,
  setOwn,
  writtenAs,
} from "../text/source-document.js";
import { asWritten, envoyScalar, scalarValue } from "./yaml-scalars.js";

/**
 * The number of values that the aliases of one file may add to the written ones: a few kilobytes of nested aliases can
 * mean billions. A long text counts as several values, since each resource gets a copy.
 */
const aliasLimit = 2_000_000;

/** Values with anchors keep their nodes, some hundreds of bytes for each: this many, or more of a long file. */
const anchoredLimit = (length: number) => Math.max(300_000, Math.floor(length / 35));

/** The tag of entries that Envoy drops from a mapping. */
export const ignoredTag = "!ignore";

/** What the parts of one file may have together. */
export interface YamlBudget {
  /** Values that aliases may add. */
  aliased: number;
  /** Values that anchors may keep. */
  anchored: number;
  /** Written values. */
  values: number;
  /** Errors of the parser. */
  errors: number;
}

/** The budget of a file. */
export function yamlBudget(length: number): YamlBudget {
  return { aliased: aliasLimit, anchored: anchoredLimit(length), values: maxValues(length), errors: maxErrors };
}

/** `envoy`: some words and numbers have their meaning to Envoy, see `envoyScalar`. */
export type YamlDialect = "core" | "envoy";

/** Of the documents of a stream. */
export type Directives = ReturnType<Composer["streamInfo"]>["directives"];

/** A text while it is read. */
export interface YamlReading {
  readonly text: string;
  readonly dialect: YamlDialect;
  readonly budget: YamlBudget;
  readonly problems: SyntaxProblem[];
  /** Of the document that is read: the last of each name. */
  anchors: Map<string, Anchored>;
  /** How far behind the beginning of the whole text a text begins that is read again, and has all anchors already. */
  readonly shift?: number;
  /** Those that such a text stands under. */
  readonly directives?: Directives;
}

/** Items that were taken out of a collection, and read, before the collection was complete. */
export interface EarlierItems {
  /** What the others come into, too. */
  readonly value: JsonObject | JsonValue[];
  /** Where the collection begins. */
  readonly offset: number;
  readonly count: number;
  /** The number of values in them, with aliases expanded. */
  readonly size: number;
  /** What is merged into them once they are complete. */
  readonly merged: readonly MergedNode[];
  has(key: string | number): boolean;
  /** The offset of an item that it has, or of something in it. */
  locate(key: string | number, rest: readonly FieldStep[]): number;
}

/** The value of a merge key, and who can read it. */
export interface MergedNode {
  readonly node: ParsedNode;
  readonly reader: YamlReader;
}

/** Thrown where the rest of a text is not read. */
export class ReadingEnds extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

export function tooDeep(offset: number): ReadingEnds {
  return new ReadingEnds(offset, `nested deeper than ${nestingLimit} levels`);
}

export function tooManyErrors(offset: number): ReadingEnds {
  return new ReadingEnds(offset, `more than ${maxErrors} mistakes: the rest is not read`);
}

interface Anchored {
  readonly node: ParsedNode;
  readonly value: JsonValue;
  /** The number of values in it, with aliases expanded. */
  readonly size: number;
  /** Knows what was taken out of it. */
  readonly reader: YamlReader;
  /** The one of the same name that it took the place of. */
  readonly before: Anchored | undefined;
}

const wrongMerge = 'the value of the merge key "<<" must be a mapping or a list of mappings';

/** Turns the nodes of one document, or of a part of it, into plain values. Aliases share them. */
export class YamlReader {
  /** The number of values that were read, with aliases expanded. */
  size = 0;
  private readonly reading: YamlReading;
  private readonly earlier: (node: ParsedNode) => EarlierItems | undefined;
  /** What aliases stand for. */
  private readonly targets = new WeakMap<ParsedNode, Anchored>();

  /** `earlier`: the items that were taken out of the collection that a node is. */
  constructor(reading: YamlReading, earlier: YamlReader["earlier"]) {
    this.reading = reading;
    this.earlier = earlier;
  }

  read(node: ParsedNode, depth: number): JsonValue {
    this.size += weightOf(node);
    const { budget } = this.reading;
    budget.values -= 1;
    if (budget.values < 0) throw new ReadingEnds(node.range?.[0] ?? 0, tooManyValues(maxValues(0)));
    if (isAlias(node)) return this.alias(node, node.source)?.value ?? null;
    const anchor = node.anchor;
    if (anchor === undefined) return this.content(node, depth);
    const before = this.size;
    const written = budget.values;
    const value = this.content(node, depth);
    if (this.reading.shift !== undefined) return value;
    budget.anchored -= 1 + written - budget.values;
    if (budget.anchored < 0) {
      const most = anchoredLimit(this.reading.text.length);
      throw new ReadingEnds(node.range[0], `more than ${most} values with an anchor: the rest is not read`);
    }
    const size = this.size - before + weightOf(node);
    this.reading.anchors.set(anchor, { node, value, size, reader: this, before: this.reading.anchors.get(anchor) });
    return value;
  }

  private content(node: ParsedNode, depth: number): JsonValue {
    if (isScalar(node)) return this.reading.dialect === "envoy" ? envoyScalar(node) : scalarValue(node);
    if (depth > nestingLimit) {
      this.problem(node.range?.[0] ?? 0, `nested deeper than ${nestingLimit} levels`);
      return null;
    }
    const earlier = this.earlier(node);
    this.size += earlier?.size ?? 0;
    const into = earlier?.value ?? (isSeq(node) ? [] : {});
    const merged = this.readItems(node, into, depth);
    for (const { node: source, reader } of earlier === undefined ? merged : [...earlier.merged, ...merged]) {
      const before = reader.size;
      reader.merge(into as JsonObject, source, depth + 1);
      if (reader !== this) this.size += reader.size - before;
    }
    return into;
  }

  /** Reads the items of a collection into a value that may have others. Returns what must be merged behind all. */
  readItems(node: ParsedNode, into: JsonObject | JsonValue[], depth: number): readonly MergedNode[] {
    if (isMap(node) && !Array.isArray(into)) return this.readPairs(node, into, depth);
    if (!isSeq(node) || !Array.isArray(into)) return [];
    for (const item of node.items) {
      into.push(this.read(item as ParsedNode, depth + 1));
      this.noteWritten(into, into.length - 1, item as ParsedNode);
    }
    return [];
  }

  private readPairs(
    node: ParsedNode & { items: readonly { key: unknown; value: unknown }[] },
    object: JsonObject,
    depth: number,
  ): readonly MergedNode[] {
    const merged: MergedNode[] = [];
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      if (isMergeKey(key)) {
        if (value === null) this.problem(key.range?.[0] ?? 0, wrongMerge);
        else merged.push({ node: value as ParsedNode, reader: this });
        continue;
      }
      const name = String(key.value);
      if (Object.hasOwn(object, name) && key.tag !== ignoredTag)
        this.problem(key.range?.[0] ?? 0, `the key ${JSON.stringify(name)} comes twice`);
      const content = value === null ? null : this.read(value as ParsedNode, depth + 1);
      // It may exist only as the target of aliases.
      if (key.tag === ignoredTag) continue;
      setOwn(object, name, content);
      this.noteWritten(object, name, value as ParsedNode | null);
    }
    return merged;
  }

  /** Keys of a merged mapping come after written keys, and after those merged before. */
  private merge(into: JsonObject, source: ParsedNode, depth: number): void {
    const value = this.read(source, depth);
    for (const from of Array.isArray(value) ? value : [value]) {
      if (from === null || typeof from !== "object" || Array.isArray(from)) {
        this.problem(source.range?.[0] ?? 0, wrongMerge);
        return;
      }
      for (const key of Object.keys(from)) {
        if (Object.hasOwn(into, key)) continue;
        setOwn(into, key, from[key] ?? null);
        const written = writtenAs(from, key);
        if (written !== undefined) noteWritten(into, key, written);
      }
    }
  }

  /** Notes the spelling of a value for text fields. */
  private noteWritten(container: object, key: string | number, node: ParsedNode | null): void {
    const scalar = isAlias(node) ? this.targets.get(node)?.node : node;
    if (this.reading.dialect !== "envoy" || !isScalar(scalar)) return;
    const written = asWritten(scalar);
    if (written !== undefined) noteWritten(container, key, written);
  }

  private alias(node: ParsedNode, name: string): Anchored | undefined {
    const offset = node.range[0];
    const anchored = this.anchoredAt(name, offset);
    if (anchored === undefined) {
      // Without its name: it may be a secret that begins with a star.
      this.problem(
        offset,
        'an alias without an anchor that is complete before it: a text that begins with "*" needs quotes',
      );
      return undefined;
    }
    this.targets.set(node, anchored);
    this.size += anchored.size;
    this.reading.budget.aliased -= anchored.size;
    if (this.reading.budget.aliased >= 0) return anchored;
    throw new ReadingEnds(offset, `the aliases of this file stand for more than ${aliasLimit} values`);
  }

  /** The last before an offset. A text that is read again has anchors behind it, too. */
  private anchoredAt(name: string, offset: number): Anchored | undefined {
    const { anchors, shift } = this.reading;
    let anchored = anchors.get(name);
    if (shift === undefined) return anchored;
    while (anchored !== undefined && anchored.node.range[0] > offset + shift) anchored = anchored.before;
    return anchored;
  }

  private problem(offset: number, message: string): void {
    this.reading.problems.push({ offset, message });
    if (this.reading.problems.length > maxErrors) throw tooManyErrors(offset);
  }

  /** Where a node begins. */
  startOf(node: ParsedNode): number {
    return this.earlier(node)?.offset ?? node.range[0];
  }

  /** The offset of the part at these steps, or of the deepest part that exists. */
  locate(root: ParsedNode, steps: readonly FieldStep[]): number {
    return this.locateIn(root, steps, this.startOf(root));
  }

  /** `offset`: where the node stands. */
  private locateIn(node: ParsedNode | null, steps: readonly FieldStep[], offset: number): number {
    const [step, ...rest] = steps;
    if (step === undefined) return offset;
    if (isAlias(node)) {
      const found = (reader: YamlReader, target: ParsedNode, distance: number) =>
        reader.locateIn(target, steps, offset - distance);
      return this.inTarget(node, found) ?? offset;
    }
    if (isSeq(node) && typeof step === "number") {
      const earlier = this.earlier(node);
      if (earlier?.has(step)) return earlier.locate(step, rest);
      const item = node.items[step - (earlier?.count ?? 0)] as ParsedNode | undefined;
      return item === undefined ? offset : this.locateIn(item, rest, this.startOf(item));
    }
    if (!isMap(node) || typeof step === "number") return offset;
    for (const name of keysOfStep(step)) {
      const found = this.locateKey(node, name, rest);
      if (found !== undefined) return found;
    }
    return offset;
  }

  /** The offset of a part under a key of a mapping, or of what is merged into it. Undefined: it has no such key. */
  private locateKey(node: ParsedNode | null, name: string, rest: readonly FieldStep[]): number | undefined {
    if (isAlias(node)) return this.inTarget(node, (reader, target) => reader.locateKey(target, name, rest));
    if (!isMap(node)) return undefined;
    const earlier = this.earlier(node);
    if (earlier?.has(name)) return earlier.locate(name, rest);
    const merged = [...(earlier?.merged ?? [])];
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      if (key.value === name) return this.locateIn(value as ParsedNode | null, rest, key.range?.[0] ?? 0);
      if (isMergeKey(key) && value !== null) merged.push({ node: value as ParsedNode, reader: this });
    }
    for (const { node: source, reader } of merged) {
      for (const part of isSeq(source) ? (source.items as ParsedNode[]) : [source]) {
        const found = reader.locateKey(part, name, rest);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /** An offset in what an alias stands for: another part may have it, whose text begins at another `distance`. */
  private inTarget(
    alias: ParsedNode,
    find: (reader: YamlReader, target: ParsedNode, distance: number) => number | undefined,
  ): number | undefined {
    const target = this.targets.get(alias);
    if (target === undefined) return undefined;
    const distance = (target.reader.reading.shift ?? 0) - (this.reading.shift ?? 0);
    const found = find(target.reader, target.node, distance);
    return found === undefined ? undefined : found + distance;
  }
}

/** Whether a key asks for a merge, and is no key of its own. */
export function isMergeKey({ value, type }: Scalar): boolean {
  return value === "<<" && type === "PLAIN";
}

function weightOf(node: ParsedNode): number {
  return isScalar(node) && typeof node.value === "string" ? 1 + Math.floor(node.value.length / 32) : 1;
}
