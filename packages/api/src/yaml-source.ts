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
  type Scalar,
  type YAMLParseError,
  type YAMLWarning,
} from "yaml";
import type { FieldStep } from "./field-path.js";
import {
  keysOfStep,
  longestInteger,
  nestingLimit,
  type SourceDocument,
  type SourceText,
  type SyntaxProblem,
  setOwn,
} from "./source-document.js";

type YamlDocument = Document.Parsed<ParsedNode>;

/**
 * How many values aliases may stand for in one file beyond what is written in it: a few kilobytes of nested aliases can stand for billions. A long text
 * weighs as much as several, for each resource gets a copy of its own.
 */
const aliasLimit = 2_000_000;

/** Reads a YAML 1.2 stream (core schema, and merge keys). Keys are strings; a key that comes twice in one mapping is a problem. */
export function parseYaml(text: string): SourceText {
  const composer = new Composer<ParsedNode>({ uniqueKeys: false, stringKeys: true, logLevel: "silent" });
  let parsed: YamlDocument[];
  try {
    parsed = Array.from(composer.compose(boundedTokens(text), false, text.length)) as YamlDocument[];
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return {
      documents: [],
      problems: [{ offset: error.offset, message: `nested deeper than ${nestingLimit} levels` }],
    };
  }
  const documents: SourceDocument[] = [];
  const problems: SyntaxProblem[] = [];
  const budget = { aliased: 0 };
  const streamErrors = parsed.length === 0 ? composer.streamInfo().errors : [];
  for (const error of streamErrors) problems.push({ offset: error.pos[0], message: withoutContent(error) });
  for (const document of parsed) {
    problems.push(...inPlainWords([...document.errors, ...document.warnings], text));
    if (document.errors.length > 0 || document.contents === null) continue;
    const reader = new Reader(problems, budget);
    const value = reader.read(document.contents, 0);
    documents.push({
      value,
      offset: document.contents.range[0],
      locate: (steps) => locate(document.contents, reader.anchors, steps),
    });
  }
  return { documents, problems };
}

class TooDeep extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/** Beside what is nested, the parser's stack holds the document and the scalar or key that it reads. */
const deepestStack = nestingLimit + 8;

/**
 * The parts of a text, as deep as we read them. The parser has no limit of its own, and the composer behind it recurses: a line of a hundred thousand dashes would take
 * seconds, or end the process.
 */
function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > deepestStack) throw new TooDeep(parser.offset);
  }
  yield* parser.end();
}

/**
 * What the parser found, in words and at the place of the mistake where it is one of the commonest: wrong indentation, a colon too many
 * or too few. What only follows from a mistake that is already named is left out.
 */
function inPlainWords(found: readonly (YAMLParseError | YAMLWarning)[], text: string): SyntaxProblem[] {
  let deepKey = -1;
  return found.flatMap((problem, index): SyntaxProblem[] => {
    const { code, message } = problem;
    const [offset] = problem.pos;
    // The parser lost its way before, and complains about every token from there to the end.
    if (index > 0 && message.includes("token in YAML stream")) return [];
    if (message.startsWith("Nested mappings")) {
      // The key that stands too deep and the value before it are one key of several lines to the parser, as its next error says.
      const next = found[index + 1];
      if (next?.code !== "MULTILINE_IMPLICIT_KEY" || next.pos[0] !== offset)
        return [{ offset, message: 'a value with ": " in it needs quotes' }];
      const line = text.lastIndexOf("\n", next.pos[1] - 1) + 1;
      const sameMistake = deepKey >= 0 && !text.slice(deepKey, offset).includes("\n");
      deepKey = line + text.slice(line).search(/\S/);
      if (sameMistake) return [];
      return [{ offset: deepKey, message: "a key below a value: indent it less, or take the value away" }];
    }
    if (message.startsWith("Unexpected scalar at node end")) {
      const isFirst = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
      const told = isFirst
        ? "a line that belongs to nothing: is it indented as it must be?"
        : "text behind the end of a value";
      return [{ offset, message: told }];
    }
    if (code !== "MULTILINE_IMPLICIT_KEY") return [{ offset, message: withoutContent(problem) }];
    const told = found[index - 1];
    if (told?.message.startsWith("Nested mappings") && told.pos[0] === offset) return [];
    return [{ offset, message: "a key stands on one line, with a colon and a space after it" }];
  });
}

/** The parser's message without what it quotes of the file: that may be a secret. */
function withoutContent({ code, message }: Pick<YAMLParseError | YAMLWarning, "code" | "message">): string {
  if (code === "TAG_RESOLVE_FAILED") return 'an unknown tag: a text that begins with "!" needs quotes';
  if (code === "NON_STRING_KEY") return "a key that is no text: is this a template that was not filled in?";
  if (code === "BAD_DIRECTIVE") return 'an unknown directive: a line that begins with "%"';
  if (message.startsWith("Alias cannot be an empty string")) return 'a text that begins with "*" needs quotes';
  return message.replace(/(?<=\w): .*$| \\.*$/s, "");
}

interface Anchored {
  readonly node: ParsedNode;
  readonly value: JsonValue;
  /** How many values it holds, aliases in it followed. */
  readonly size: number;
}

/** Turns the nodes of one document into plain values. Aliases share them. */
class Reader {
  readonly anchors = new Map<string, Anchored>();
  private readonly problems: SyntaxProblem[];
  private readonly budget: { aliased: number };
  private size = 0;

  constructor(problems: SyntaxProblem[], budget: { aliased: number }) {
    this.problems = problems;
    this.budget = budget;
  }

  read(node: ParsedNode, depth: number): JsonValue {
    this.size += weightOf(node);
    if (isAlias(node)) return this.alias(node.source, node.range[0])?.value ?? null;
    const anchor = node.anchor;
    if (anchor === undefined) return this.content(node, depth);
    const before = this.size;
    const value = this.content(node, depth);
    this.anchors.set(anchor, { node, value, size: this.size - before + weightOf(node) });
    return value;
  }

  private content(node: ParsedNode, depth: number): JsonValue {
    if (isScalar(node)) return scalarValue(node);
    if (depth > nestingLimit) {
      this.problem(node.range?.[0] ?? 0, `nested deeper than ${nestingLimit} levels`);
      return null;
    }
    if (isSeq(node)) {
      const list: JsonValue[] = [];
      for (const item of node.items) list.push(this.read(item as ParsedNode, depth + 1));
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
    let merged: ParsedNode[] | undefined;
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      if (key.value === "<<" && key.type === "PLAIN") {
        merged = [...(merged ?? []), value as ParsedNode];
        continue;
      }
      const name = String(key.value);
      if (Object.hasOwn(object, name)) this.problem(key.range?.[0] ?? 0, `the key ${JSON.stringify(name)} comes twice`);
      setOwn(object, name, value === null ? null : this.read(value as ParsedNode, depth + 1));
    }
    for (const source of merged ?? []) this.merge(object, source, depth + 1);
    return object;
  }

  /** Keys of a merged mapping stand behind those that are written, and behind those merged before. */
  private merge(into: JsonObject, source: ParsedNode, depth: number): void {
    const value = this.read(source, depth);
    for (const from of Array.isArray(value) ? value : [value]) {
      if (from === null || typeof from !== "object" || Array.isArray(from)) {
        this.problem(source.range?.[0] ?? 0, 'the value of the merge key "<<" must be a mapping or a list of mappings');
        return;
      }
      for (const key of Object.keys(from)) if (!Object.hasOwn(into, key)) setOwn(into, key, from[key] ?? null);
    }
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
    this.budget.aliased += anchored.size;
    if (this.budget.aliased > aliasLimit) {
      if (this.budget.aliased - anchored.size <= aliasLimit) {
        this.problem(offset, `the aliases of this file stand for more than ${aliasLimit} values`);
      }
      return undefined;
    }
    return anchored;
  }

  private problem(offset: number, message: string): void {
    this.problems.push({ offset, message });
  }
}

function weightOf(node: ParsedNode): number {
  return isScalar(node) && typeof node.value === "string" ? 1 + Math.floor(node.value.length / 32) : 1;
}

function scalarValue({ value, source }: Scalar): JsonValue {
  if (typeof value !== "number") return value as JsonValue;
  // 64-bit integers are more than a double holds: protobuf reads them from bigints as well.
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && isWholeInteger(source ?? "")) {
    return BigInt(source ?? "") as unknown as JsonValue;
  }
  return Number.isFinite(value) ? value : Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

function isWholeInteger(source: string): boolean {
  return source.length <= longestInteger && /^[-+]?\d+$/.test(source);
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
