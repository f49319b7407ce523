import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParsedNode,
  Parser,
  type Tags,
} from "yaml";
import type { FieldStep } from "../errors/field-path.js";
import { maxErrors, maxValues, tooManyValues } from "../errors/limits.js";
import {
  keysOfStep,
  nestingLimit,
  noteWritten,
  type SourceDocument,
  type SourceText,
  type SyntaxProblem,
  setOwn,
  writtenAs,
} from "../text/source-document.js";
import { inPlainWords, withoutContent } from "./yaml-problems.js";
import { asWritten, envoyScalar, scalarValue } from "./yaml-scalars.js";

/**
 * The number of values that the aliases of one file may add to the written ones: a few kilobytes of nested aliases can
 * mean billions. A long text counts as several values, since each resource gets a copy.
 */
const aliasLimit = 2_000_000;

/** The tag of entries that Envoy drops from a mapping. */
const ignoredTag = "!ignore";

/**
 * Tokens of a text that is read at once, with spaces and line ends: the parser needs about 300 bytes for each. Ordinary
 * files have that many in ten megabytes.
 */
const maxTokens = 1_500_000;

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

/** Collections and times of YAML 1.1 have no meaning of their own to Envoy, nor here: their content counts. */
const plainTags: Tags = [
  ...["omap", "pairs", "set"].flatMap((name) =>
    (["seq", "map"] as const).map((collection) => {
      return { tag: `tag:yaml.org,2002:${name}`, collection, default: false, resolve: (node: unknown) => node };
    }),
  ),
  { tag: "tag:yaml.org,2002:timestamp", default: false, resolve: (text: string) => text },
] as Tags;

/**
 * Reads a YAML 1.2 stream (core schema, and merge keys). Keys are strings, and a duplicate key in a mapping is a
 * problem. So is more than a file may have: its reading stops there.
 *
 * @param dialect with `envoy` some words and numbers have their meaning to Envoy, see `envoyScalar`
 * @param budget of a longer text that this is a part of
 */
export function parseYaml(
  written: string,
  dialect: "core" | "envoy" = "core",
  budget: YamlBudget = yamlBudget(written.length),
): SourceText {
  // The parser does not know lines that end with CR alone.
  const text = /\r(?!\n)/.test(written) ? written.replaceAll(/\r(?!\n)/g, "\n") : written;
  const documents: SourceDocument[] = [];
  const problems: SyntaxProblem[] = [];
  try {
    readDocuments(text, dialect, budget, documents, problems);
  } catch (error) {
    if (!(error instanceof ReadingEnds)) throw error;
    return { documents: [], problems: [{ offset: error.offset, message: error.message }] };
  }
  return { documents, problems };
}

function readDocuments(
  text: string,
  dialect: "core" | "envoy",
  budget: YamlBudget,
  documents: SourceDocument[],
  problems: SyntaxProblem[],
): void {
  const composer = new Composer<ParsedNode>({
    uniqueKeys: false,
    stringKeys: true,
    logLevel: "silent",
    customTags: (tags) => [...tags, ...plainTags],
  });
  endAfterTooManyErrors(composer);
  const parsed = Array.from(composer.compose(boundedTokens(text), false, text.length)) as Document.Parsed<ParsedNode>[];
  const streamErrors = parsed.length === 0 ? composer.streamInfo().errors : [];
  for (const error of streamErrors) problems.push({ offset: error.pos[0], message: withoutContent(error) });
  for (const document of parsed) {
    const errors = document.errors.filter(({ code, pos }) => {
      return code !== "NON_STRING_KEY" || text.slice(...pos) !== ignoredTag;
    });
    problems.push(...inPlainWords([...errors, ...document.warnings], text));
    if (errors.length > 0 || document.contents === null) continue;
    const reader = new Reader(problems, budget, dialect);
    const value = reader.read(document.contents, 0);
    documents.push({
      value,
      offset: document.contents.range[0],
      locate: (steps) => locate(document.contents, reader.anchors, steps),
    });
  }
}

/** Thrown where the rest of a text is not read. */
class ReadingEnds extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

function tooDeep(offset: number): ReadingEnds {
  return new ReadingEnds(offset, `nested deeper than ${nestingLimit} levels`);
}

function tooManyErrors(offset: number): ReadingEnds {
  return new ReadingEnds(offset, `more than ${maxErrors} mistakes: the rest is not read`);
}

/** The composer collects all errors. One text in quotes can have one in each of its lines. */
function endAfterTooManyErrors(composer: Composer<ParsedNode>): void {
  const composing = composer as unknown as { onError: (at: unknown, ...rest: unknown[]) => void };
  const { onError } = composing;
  let count = 0;
  let end: ReadingEnds | undefined;
  composing.onError = (at, ...rest) => {
    count += 1;
    // It catches what is thrown inside of a collection, and reports it at the outer one.
    if (count > maxErrors) end ??= tooManyErrors(offsetOf(at));
    if (end !== undefined) throw end;
    onError(at, ...rest);
  };
}

/** Where an error of the composer is: a number, a range, or something that has its own. */
function offsetOf(at: unknown): number {
  if (typeof at === "number") return at;
  if (Array.isArray(at)) return Number(at[0]);
  return Number((at as { readonly offset?: number } | null)?.offset ?? 0);
}

/** Besides nested values the parser's stack holds the document and the current scalar or key. */
const deepestStack = nestingLimit + 8;

/**
 * The tokens of a text, up to our limits. The parser has none, and the composer after it is recursive: a line of a
 * hundred thousand dashes would take seconds, or end the process.
 */
function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  let tokens = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error" && ++errors > maxErrors) throw tooManyErrors(token.offset);
      yield token;
    }
    if (parser.stack.length > deepestStack) throw tooDeep(parser.offset);
    // What ends a document, and begins it, costs more than what is in it.
    tokens += lexeme === documentMark ? 16 : 1;
    if (tokens > maxTokens) throw new ReadingEnds(parser.offset, tooManyTokens);
  }
  yield* parser.end();
}

/** Begins a document. */
const documentMark = "---";

const tooManyTokens = `more than ${maxTokens} words, marks, comments and line ends at once: write a list of resources, or JSON`;

interface Anchored {
  readonly node: ParsedNode;
  readonly value: JsonValue;
  /** The number of values in it, with aliases expanded. */
  readonly size: number;
}

const wrongMerge = 'the value of the merge key "<<" must be a mapping or a list of mappings';

/** Turns the nodes of one document into plain values. Aliases share them. */
class Reader {
  readonly anchors = new Map<string, Anchored>();
  private readonly problems: SyntaxProblem[];
  private readonly budget: YamlBudget;
  private readonly dialect: "core" | "envoy";
  private size = 0;

  constructor(problems: SyntaxProblem[], budget: YamlBudget, dialect: "core" | "envoy") {
    this.problems = problems;
    this.budget = budget;
    this.dialect = dialect;
  }

  read(node: ParsedNode, depth: number): JsonValue {
    this.size += weightOf(node);
    this.budget.values -= 1;
    if (this.budget.values < 0) throw new ReadingEnds(node.range?.[0] ?? 0, tooManyValues(maxValues(0)));
    if (isAlias(node)) return this.alias(node.source, node.range[0])?.value ?? null;
    const anchor = node.anchor;
    if (anchor === undefined) return this.content(node, depth);
    const before = this.size;
    const value = this.content(node, depth);
    this.anchors.set(anchor, { node, value, size: this.size - before + weightOf(node) });
    return value;
  }

  private content(node: ParsedNode, depth: number): JsonValue {
    if (isScalar(node)) return this.dialect === "envoy" ? envoyScalar(node) : scalarValue(node);
    if (depth > nestingLimit) {
      this.problem(node.range?.[0] ?? 0, `nested deeper than ${nestingLimit} levels`);
      return null;
    }
    if (isSeq(node)) {
      const list: JsonValue[] = [];
      for (const item of node.items) {
        list.push(this.read(item as ParsedNode, depth + 1));
        this.noteWritten(list, list.length - 1, item as ParsedNode);
      }
      return list;
    }
    if (isMap(node)) return this.mapping(node, depth);
    return null;
  }

  private mapping(
    node: ParsedNode & { items: readonly { key: unknown; value: unknown }[] },
    depth: number,
  ): JsonObject {
    const object: JsonObject = {};
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
    return object;
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
    if (this.dialect !== "envoy" || !isScalar(scalar)) return;
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
    this.budget.aliased -= anchored.size;
    if (this.budget.aliased >= 0) return anchored;
    throw new ReadingEnds(offset, `the aliases of this file stand for more than ${aliasLimit} values`);
  }

  private problem(offset: number, message: string): void {
    this.problems.push({ offset, message });
    if (this.problems.length > maxErrors) throw tooManyErrors(offset);
  }
}

function weightOf(node: ParsedNode): number {
  return isScalar(node) && typeof node.value === "string" ? 1 + Math.floor(node.value.length / 32) : 1;
}

function locate(root: ParsedNode | null, anchors: ReadonlyMap<string, Anchored>, steps: readonly FieldStep[]): number {
  let offset = root?.range?.[0] ?? 0;
  let node = root;
  for (const step of steps) {
    node = resolve(node, anchors);
    let next: ParsedNode | undefined;
    if (isSeq(node) && typeof step === "number") {
      next = node.items[step] as ParsedNode | undefined;
      offset = next?.range?.[0] ?? offset;
    } else if (isMap(node) && typeof step !== "number") {
      const pair = keysOfStep(step)
        .map((name) => findPair(node as ParsedNode, name, anchors))
        .find((found) => found !== undefined);
      offset = pair?.offset ?? offset;
      next = pair?.value;
    }
    if (next === undefined) return offset;
    node = next;
  }
  return offset;
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
