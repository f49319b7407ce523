import type { JsonValue } from "@bufbuild/protobuf";
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type Tags } from "yaml";
import { maxErrors } from "../errors/limits.js";
import { nestingLimit, type SourceDocument, type SourceText } from "../text/source-document.js";
import { isLong, maxTokens, NeedsWhole, tokensOfDocument, YamlParts, type YamlPartsOptions } from "./yaml-parts.js";
import { inPlainWords, withoutContent } from "./yaml-problems.js";
import {
  ignoredTag,
  ReadingEnds,
  tooDeep,
  tooManyErrors,
  type YamlDialect,
  YamlReader,
  type YamlReading,
  yamlBudget,
} from "./yaml-reader.js";

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
 * @param inParts whether to try that first: the result is the same, and takes less memory
 */
export function parseYaml(written: string, dialect: YamlDialect = "core", inParts = isLong(written)): SourceText {
  if (inParts) {
    try {
      return { documents: [...documentsInParts(written, dialect)], problems: [] };
    } catch (error) {
      if (!(error instanceof NeedsWhole)) throw error;
    }
  }
  const reading = startReading(written, dialect);
  try {
    return { documents: [...readDocuments(reading)], problems: reading.problems };
  } catch (error) {
    if (!(error instanceof ReadingEnds)) throw error;
    return { documents: [], problems: [{ offset: error.offset, message: error.message }] };
  }
}

/**
 * Reads a valid text with little more memory than its values need. Throws `NeedsWhole`, possibly after some documents,
 * if only `parseYaml` can read it, or can say what is wrong.
 */
export function* documentsInParts(
  written: string,
  dialect: YamlDialect,
  options: YamlPartsOptions = {},
): Generator<SourceDocument> {
  const reading = startReading(written, dialect);
  const parts = new YamlParts(reading.text, options, {
    read(token, into, depth, earlier) {
      const part: CST.Document = { type: "document", offset: token.offset, start: [], value: token };
      const [document] = createComposer().compose([part]) as Iterable<ParsedDocument>;
      const node = document && contentOf(document, reading);
      if (node === undefined) throw new NeedsWhole();
      const reader = new YamlReader(reading, earlier);
      reader.readItems(node, into, depth);
      assertIndependent(reader);
      return { node, document: documentOf(node, into, reader) };
    },
    parse: (text) => parseYaml(text, dialect).documents[0],
  });
  try {
    yield* readDocuments(reading, parts);
  } catch (error) {
    throw error instanceof ReadingEnds ? new NeedsWhole() : error;
  }
}

function startReading(written: string, dialect: YamlDialect): YamlReading {
  // The parser does not know lines that end with CR alone.
  const text = /\r(?!\n)/.test(written) ? written.replaceAll(/\r(?!\n)/g, "\n") : written;
  return { text, dialect, budget: yamlBudget(text.length), problems: [] };
}

type ParsedDocument = Document.Parsed<ParsedNode>;

function* readDocuments(reading: YamlReading, parts?: YamlParts): Generator<SourceDocument> {
  const composer = createComposer();
  const parser = new Parser();
  let count = 0;
  function* read(documents: Iterable<Document>): Generator<SourceDocument> {
    for (const document of documents as Iterable<ParsedDocument>) {
      count += 1;
      const reader = new YamlReader(reading, parts?.endOfDocument(count));
      const node = contentOf(document, reading);
      const value = node && reader.read(node, 0);
      if (parts !== undefined) assertIndependent(reader);
      if (node !== undefined && value !== undefined) yield documentOf(node, value, reader);
    }
  }
  for (const token of boundedTokens(reading.text, parser, parts?.tokens)) {
    if (token !== undefined) {
      // A directive applies to all that follows, but a part would begin without it.
      if (parts !== undefined && /^(?:error|directive)$/.test(token.type)) throw new NeedsWhole();
      yield* read(composer.next(token));
    } else {
      // The document before the one that has begun: the composer keeps it.
      if (parser.stack[0]?.type === "document") yield* read(composer.end());
      yield* parts?.take(parser) ?? [];
    }
  }
  yield* read(composer.end(false, reading.text.length));
  const streamErrors = count === 0 ? composer.streamInfo().errors : [];
  for (const error of streamErrors) reading.problems.push({ offset: error.pos[0], message: withoutContent(error) });
}

/** The content of a document. Undefined: there is none, or it is wrong. */
function contentOf({ contents, errors, warnings }: ParsedDocument, reading: YamlReading): ParsedNode | undefined {
  const { text, problems } = reading;
  const found = errors.filter(({ code, pos }) => code !== "NON_STRING_KEY" || text.slice(...pos) !== ignoredTag);
  problems.push(...inPlainWords([...found, ...warnings], text));
  return found.length === 0 ? (contents ?? undefined) : undefined;
}

function documentOf(node: ParsedNode, value: JsonValue, reader: YamlReader): SourceDocument {
  return { value, offset: reader.startOf(node), locate: (steps) => reader.locate(node, steps) };
}

/** A part must have all that it needs: no anchor of another one, and nothing that is wrong. */
function assertIndependent({ reading, anchors }: YamlReader): void {
  if (reading.problems.length > 0 || anchors.size > 0) throw new NeedsWhole();
}

function createComposer(): Composer<ParsedNode> {
  const composer = new Composer<ParsedNode>({
    uniqueKeys: false,
    stringKeys: true,
    logLevel: "silent",
    customTags: (tags) => [...tags, ...plainTags],
  });
  endAfterTooManyErrors(composer);
  return composer;
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
 * hundred thousand dashes would take seconds, or end the process. In parts there is an undefined one after each part.
 */
function* boundedTokens(text: string, parser: Parser, partTokens?: number): Generator<CST.Token | undefined> {
  let tokens = 0;
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (token.type === "error" && ++errors > maxErrors) throw tooManyErrors(token.offset);
      yield token;
    }
    if (parser.stack.length > deepestStack) throw tooDeep(parser.offset);
    // What ends a document, and begins it, costs more than what is in it.
    tokens += lexeme === documentMark ? tokensOfDocument : 1;
    if (partTokens !== undefined) {
      if (tokens < partTokens) continue;
      tokens = 0;
      yield undefined;
    } else if (tokens > maxTokens) throw new ReadingEnds(parser.offset, tooManyTokens);
  }
  yield* parser.end();
}

/** Begins a document. */
const documentMark = "---";

const tooManyTokens = `more than ${maxTokens} words, marks, comments and line ends at once: write a list of resources, or JSON`;
