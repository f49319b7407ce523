import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from "yaml";
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

/** The tag of entries that Envoy drops from a mapping. */
export const ignoredTag = "!ignore";

/** What the parts of one file may have together. */
export interface YamlBudget {
  /** Values that aliases may add. */
  aliased: number;
  /** Written values. */
  values: number;
}

/** The budget of a file. */
export function yamlBudget(length: number): YamlBudget {
  return { aliased: aliasLimit, values: maxValues(length) };
}

/** `envoy`: some words and numbers have their meaning to Envoy, see `envoyScalar`. */
export type YamlDialect = "core" | "envoy";

/** A text while it is read. */
export interface YamlReading {
  readonly text: string;
  readonly dialect: YamlDialect;
  readonly budget: YamlBudget;
  readonly problems: SyntaxProblem[];
}

/** Items that were taken out of a collection, and read, before the collection was complete. */
export interface EarlierItems {
  /** What the others come into, too. */
  readonly value: JsonObject | JsonValue[];
  /** Where the collection begins. */
  readonly offset: number;
  readonly count: number;
  has(key: string | number): boolean;
  /** The offset of an item that it has, or of something in it. */
  locate(key: string | number, rest: readonly FieldStep[]): number;
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
}

const wrongMerge = 'the value of the merge key "<<" must be a mapping or a list of mappings';

/** Turns the nodes of one document into plain values. Aliases share them. */
export class YamlReader {
  readonly reading: YamlReading;
  readonly anchors = new Map<string, Anchored>();
  private readonly earlier: (node: ParsedNode) => EarlierItems | undefined;
  private size = 0;

  /** `earlier`: the items that were taken out of the collection that a node is. */
  constructor(reading: YamlReading, earlier: YamlReader["earlier"] = () => undefined) {
    this.reading = reading;
    this.earlier = earlier;
  }

  read(node: ParsedNode, depth: number): JsonValue {
    this.size += weightOf(node);
    const { budget } = this.reading;
    budget.values -= 1;
    if (budget.values < 0) throw new ReadingEnds(node.range?.[0] ?? 0, tooManyValues(maxValues(0)));
    if (isAlias(node)) return this.alias(node.source, node.range[0])?.value ?? null;
    const anchor = node.anchor;
    if (anchor === undefined) return this.content(node, depth);
    const before = this.size;
    const value = this.content(node, depth);
    this.anchors.set(anchor, { node, value, size: this.size - before + weightOf(node) });
    return value;
  }

  private content(node: ParsedNode, depth: number): JsonValue {
    if (isScalar(node)) return this.reading.dialect === "envoy" ? envoyScalar(node) : scalarValue(node);
    if (depth > nestingLimit) {
      this.problem(node.range?.[0] ?? 0, `nested deeper than ${nestingLimit} levels`);
      return null;
    }
    const into = this.earlier(node)?.value ?? (isSeq(node) ? [] : {});
    this.readItems(node, into, depth);
    return into;
  }

  /** Reads the items of a collection into a value that may have others. */
  readItems(node: ParsedNode, into: JsonObject | JsonValue[], depth: number): void {
    if (isMap(node) && !Array.isArray(into)) this.readPairs(node, into, depth);
    if (!isSeq(node) || !Array.isArray(into)) return;
    for (const item of node.items) {
      into.push(this.read(item as ParsedNode, depth + 1));
      this.noteWritten(into, into.length - 1, item as ParsedNode);
    }
  }

  private readPairs(
    node: ParsedNode & { items: readonly { key: unknown; value: unknown }[] },
    object: JsonObject,
    depth: number,
  ): void {
    const merged: ParsedNode[] = [];
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      if (key.value === "<<" && key.type === "PLAIN") {
        if (value === null) this.problem(key.range?.[0] ?? 0, wrongMerge);
        else merged.push(value as ParsedNode);
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
    for (const source of merged) this.merge(object, source, depth + 1);
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
    const scalar = isAlias(node) ? this.anchors.get(node.source)?.node : node;
    if (this.reading.dialect !== "envoy" || !isScalar(scalar)) return;
    const written = asWritten(scalar);
    if (written !== undefined) noteWritten(container, key, written);
  }

  private alias(name: string, offset: number): Anchored | undefined {
    const anchored = this.anchors.get(name);
    if (anchored === undefined) {
      // Without its name: it may be a secret that begins with a star.
      this.problem(
        offset,
        'an alias without an anchor that is complete before it: a text that begins with "*" needs quotes',
      );
      return undefined;
    }
    this.size += anchored.size;
    this.reading.budget.aliased -= anchored.size;
    if (this.reading.budget.aliased >= 0) return anchored;
    throw new ReadingEnds(offset, `the aliases of this file stand for more than ${aliasLimit} values`);
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
    let offset = this.startOf(root);
    let node: ParsedNode | null = root;
    for (const [index, step] of steps.entries()) {
      node = resolve(node, this.anchors);
      const earlier: EarlierItems | undefined = node === null ? undefined : this.earlier(node);
      const rest = steps.slice(index + 1);
      let next: ParsedNode | undefined;
      if (isSeq(node) && typeof step === "number") {
        if (earlier?.has(step)) return earlier.locate(step, rest);
        next = node.items[step - (earlier?.count ?? 0)] as ParsedNode | undefined;
        offset = next === undefined ? offset : this.startOf(next);
      } else if (isMap(node) && typeof step !== "number") {
        for (const name of keysOfStep(step)) {
          if (earlier?.has(name)) return earlier.locate(name, rest);
          const pair = findPair(node, name, this.anchors);
          if (pair === undefined) continue;
          offset = pair.offset;
          next = pair.value;
          break;
        }
      }
      if (next === undefined) return offset;
      node = next;
    }
    return offset;
  }
}

function weightOf(node: ParsedNode): number {
  return isScalar(node) && typeof node.value === "string" ? 1 + Math.floor(node.value.length / 32) : 1;
}

function resolve(node: ParsedNode | null, anchors: ReadonlyMap<string, Anchored>): ParsedNode | null {
  return isAlias(node) ? (anchors.get(node.source)?.node ?? null) : node;
}

function findPair(
  node: ParsedNode | null,
  name: string,
  anchors: ReadonlyMap<string, Anchored>,
): { readonly offset: number; readonly value: ParsedNode | undefined } | undefined {
  const map = resolve(node, anchors);
  if (!isMap(map)) return undefined;
  const merged: ParsedNode[] = [];
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    if (key.value === name) return { offset: key.range?.[0] ?? 0, value: (value as ParsedNode | null) ?? undefined };
    if (key.value === "<<" && key.type === "PLAIN") merged.push(value as ParsedNode);
  }
  for (const source of merged) {
    const target = resolve(source, anchors);
    for (const part of isSeq(target) ? target.items : [target]) {
      const found = findPair(part as ParsedNode, name, anchors);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
