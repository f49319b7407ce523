import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import {
  Composer,
  type CST,
  type Document,
  Lexer,
  type ParsedNode,
  Parser,
  type Tags,
  type YAMLParseError,
  type YAMLWarning,
} from "yaml";
import { nestingLimit, type SourceDocument, type SourceText, type SyntaxProblem } from "../text/source-document.js";
import {
  type Earlier,
  type PartOfDocument,
  type PartReader,
  type YamlCollection,
  YamlParts,
  type YamlPartsOptions,
} from "./yaml-parts.js";
import { inPlainWords, withoutContent } from "./yaml-problems.js";
import {
  type Directives,
  ignoredTag,
  ReadingEnds,
  tooDeep,
  tooManyErrors,
  type YamlBudget,
  type YamlDialect,
  YamlReader,
  type YamlReading,
  yamlBudget,
} from "./yaml-reader.js";
import { wideTags } from "./yaml-scalars.js";

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
 */
export function parseYaml(written: string, dialect: YamlDialect = "core", options: YamlPartsOptions = {}): SourceText {
  const { documents, problems } = yamlDocuments(written, dialect, options);
  return { documents: [...documents], problems };
}

/**
 * The same, one document after the other. The problems are complete after the last.
 *
 * @param options how a long text is cut, so that it takes little more memory than its values need
 */
export function yamlDocuments(
  written: string,
  dialect: YamlDialect,
  options: YamlPartsOptions,
): { readonly documents: Iterable<SourceDocument>; readonly problems: readonly SyntaxProblem[] } {
  const reading = startReading(written, dialect);
  return { documents: boundedDocuments(reading, options), problems: reading.problems };
}

function* boundedDocuments(reading: YamlReading, options: YamlPartsOptions): Generator<SourceDocument> {
  try {
    yield* readDocuments(reading, options);
  } catch (error) {
    if (!(error instanceof ReadingEnds)) throw error;
    reading.problems.splice(0, Number.POSITIVE_INFINITY, { offset: error.offset, message: error.message });
  }
  // Those of parts come in another order.
  reading.problems.sort((a, b) => a.offset - b.offset);
}

function startReading(written: string, dialect: YamlDialect): YamlReading {
  // The parser does not know lines that end with CR alone.
  const text = /\r(?!\n)/.test(written) ? written.replaceAll(/\r(?!\n)/g, "\n") : written;
  return { text, dialect, budget: yamlBudget(text.length), problems: [], anchors: new Map() };
}

type ParsedDocument = Document.Parsed<ParsedNode>;

function* readDocuments(reading: YamlReading, options: YamlPartsOptions): Generator<SourceDocument> {
  const composer = createComposer(reading, reading.directives);
  const parser = new Parser();
  const mistakes: Mistake[] = [];
  const parts = new YamlParts(reading.text, options, new PartsOfDocument(reading, composer, mistakes));
  let count = 0;
  function* read(documents: Iterable<Document>): Generator<SourceDocument> {
    for (const document of documents as Iterable<ParsedDocument>) {
      count += 1;
      if (count > maxDocuments) throw new ReadingEnds(document.range[0], tooManyDocuments);
      mistakes.push(...mistakesIn(document, reading));
      const isValid = mistakes.length === 0;
      reading.problems.push(...inPlainWords(mistakes.splice(0), reading.text));
      const { contents } = document;
      const reader = new YamlReader(reading, parts.endOfDocument());
      if (isValid && contents !== null) yield documentOf(contents, reader.read(contents, 0), reader);
      reading.anchors = new Map();
    }
  }
  for (const token of boundedTokens(reading, parser, parts.tokens)) {
    if (token !== undefined) yield* read(composer.next(token));
    else {
      // The document before the one that has begun: the composer keeps it.
      if (parser.stack[0]?.type === "document") yield* read(composer.end());
      yield* parts.take(parser);
    }
  }
  yield* read(composer.end(false, reading.text.length));
  const streamErrors = count === 0 ? composer.streamInfo().errors : [];
  for (const error of streamErrors) reading.problems.push({ offset: error.pos[0], message: withoutContent(error) });
}

type Mistake = YAMLParseError | YAMLWarning;

function mistakesIn({ errors, warnings }: ParsedDocument, { text }: YamlReading): Mistake[] {
  const found = errors.filter(({ code, pos }) => code !== "NON_STRING_KEY" || text.slice(...pos) !== ignoredTag);
  return [...found, ...warnings];
}

/** Reads the parts of a document while it is open. After its first mistake only further ones count. */
class PartsOfDocument implements PartReader {
  readonly #reading: YamlReading;
  readonly #composer: Composer<ParsedNode>;
  readonly #mistakes: Mistake[];

  constructor(reading: YamlReading, composer: Composer<ParsedNode>, mistakes: Mistake[]) {
    this.#reading = reading;
    this.#composer = composer;
    this.#mistakes = mistakes;
  }

  read(
    value: YamlCollection,
    into: JsonObject | JsonValue[],
    depth: number,
    earlier: Earlier,
  ): PartOfDocument | undefined {
    const composer = createComposer(this.#reading, this.#composer.streamInfo().directives);
    const part: CST.Document = { type: "document", offset: value.offset, start: [], value };
    const [document] = composer.compose([part]) as Iterable<ParsedDocument>;
    if (document !== undefined) this.#mistakes.push(...mistakesIn(document, this.#reading));
    const node = document?.contents ?? undefined;
    if (node === undefined || this.#mistakes.length > 0) return undefined;
    const reader = new YamlReader(this.#reading, earlier);
    const merged = reader.readItems(node, into, depth);
    return { node, document: documentOf(node, into, reader), size: reader.size, merged };
  }

  again(): ReturnType<PartReader["again"]> {
    const { dialect, anchors, shift: outer = 0 } = this.#reading;
    const directives = this.#composer.streamInfo().directives.clone();
    return (text, shift) => {
      const reading = { ...startReading(text, dialect), anchors, directives, shift: outer + shift };
      const [document] = boundedDocuments(reading, {});
      return document;
    };
  }
}

function documentOf(node: ParsedNode, value: JsonValue, reader: YamlReader): SourceDocument {
  return { value, offset: reader.startOf(node), locate: (steps) => reader.locate(node, steps) };
}

/** `directives`: of the document whose part is read. */
function createComposer({ budget }: YamlReading, directives?: Directives): Composer<ParsedNode> {
  const composer = new Composer<ParsedNode>({
    uniqueKeys: false,
    stringKeys: true,
    logLevel: "silent",
    customTags: (tags) => [...tags, ...plainTags, ...wideTags],
  });
  endAfterTooManyErrors(composer, budget);
  // What is read takes them from the composer, which others need again.
  if (directives !== undefined) Object.assign(composer, { directives: directives.clone() });
  return composer;
}

/** The composer collects all errors. One text in quotes can have one in each of its lines. */
function endAfterTooManyErrors(composer: Composer<ParsedNode>, budget: YamlBudget): void {
  const composing = composer as unknown as { onError: (at: unknown, ...rest: unknown[]) => void };
  const { onError } = composing;
  let end: ReadingEnds | undefined;
  composing.onError = (at, ...rest) => {
    budget.errors -= 1;
    // It catches what is thrown inside of a collection, and reports it at the outer one.
    if (budget.errors < 0) end ??= tooManyErrors(offsetOf(at));
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
 * hundred thousand dashes would take seconds, or end the process. In parts there is an undefined one after each part.
 */
function* boundedTokens(
  { text, budget }: YamlReading,
  parser: Parser,
  partTokens: number,
): Generator<CST.Token | undefined> {
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error" && --budget.errors < 0) throw tooManyErrors(token.offset);
      yield token;
    }
    if (parser.stack.length > deepestStack) throw tooDeep(parser.offset);
    // What ends a document, and begins it, costs more than what is in it.
    tokens += lexeme === documentMark ? tokensOfDocument : 1;
    if (tokens < partTokens) continue;
    tokens = 0;
    yield undefined;
  }
  yield* parser.end();
}

/** Begins a document. */
const documentMark = "---";
/** What ends a document, and begins it, costs more than what is in it. */
const tokensOfDocument = 16;
/** Somebody may keep them all. */
const maxDocuments = 100_000;
const tooManyDocuments = `more than ${maxDocuments} documents: the rest is not read`;
