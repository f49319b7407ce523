import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { FieldStep } from "../errors/field-path.js";
import { keysOfStep, longestInteger, nestingLimit, type SourceText, setOwn } from "../text/source-document.js";
import { countKeys, type JsonScan, scanJson } from "./json-scan.js";

/**
 * Reads a JSON text. A duplicate key is a problem. Positions are computed only on request.
 *
 * @param dialect `envoy` also accepts trailing commas, single quotes, keys without quotes, and line breaks in strings
 */
export function parseJson(text: string, dialect: "core" | "envoy" = "core"): SourceText {
  try {
    const value = JSON.parse(text) as JsonValue;
    const scan = scanJson(text);
    // Deeper values go to the reader below, since the code that locates parts later is recursive too.
    if (!scan.hasLongNumbers && scan.depth <= nestingLimit && scan.keys === countKeys(value)) {
      const starts = startsOfItems(value, scan);
      let root: JsonNode | undefined;
      const locate = (steps: readonly FieldStep[]) => {
        const last = steps.at(-1);
        const isItem =
          typeof last === "number" && steps.length === starts.depth && (steps.length === 1 || steps[0] === "resources");
        const start = isItem ? starts.offsets[last] : undefined;
        if (start !== undefined) return start;
        if (steps.length === 0) return offset;
        root ??= new ExplainingJsonReader(text, "core").document();
        return locateIn(root, steps);
      };
      const offset = text.search(/[^ \t\n\r]/);
      return { documents: [{ value, offset, locate }], problems: [] };
    }
  } catch (error) {
    // Not JSON, or nested too deeply to count: the reader below says where and why.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
  const reader = new ExplainingJsonReader(text, dialect);
  try {
    const root = reader.document();
    const documents = [
      { value: root.value, offset: root.offset, locate: (steps: readonly FieldStep[]) => locateIn(root, steps) },
    ];
    return { documents, problems: [] };
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    // After a missing quote the string continues on the next line, and nothing after it makes sense.
    const { broken } = reader;
    const problem = broken === undefined ? error : { offset: broken, message: withoutEnd };
    return { documents: [], problems: [{ offset: problem.offset, message: problem.message }] };
  }
}

/**
 * The offsets of the resources of a list (`[0]`) or of a response (`resources[0]`), if they are certain without a
 * second scan.
 */
function startsOfItems(
  value: JsonValue,
  { items }: JsonScan,
): { readonly depth: number; readonly offsets: readonly number[] } {
  if (Array.isArray(value)) return { depth: 1, offsets: items[1].length === value.length ? items[1] : [] };
  const list = typeof value === "object" && value !== null ? value.resources : undefined;
  return { depth: 2, offsets: Array.isArray(list) && items[2].length === list.length ? items[2] : [] };
}

interface JsonNode {
  readonly value: JsonValue;
  readonly offset: number;
  /** By index or by key: the offset of the key (in a list, of the value), and the value. */
  readonly parts: ReadonlyMap<string | number, { readonly offset: number; readonly node: JsonNode }> | undefined;
}

class JsonProblem extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const token = /[ \t\n\r]*(?:([{}[\],:])|(["'])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null)\b)/y;

/** A JSON parser that keeps positions. It is slow, and runs only on texts with something wrong or unusual. */
class ExplainingJsonReader {
  private readonly text: string;
  /** Whether to accept the same forms as Envoy. */
  private readonly isLoose: boolean;
  private at = 0;
  private readonly token = new RegExp(token.source, token.flags);
  private readonly word = /[ \t\n\r]*([A-Za-z_]\w*)/y;
  /** The offset of the first string with a line break. */
  broken: number | undefined;

  constructor(text: string, dialect: "core" | "envoy") {
    this.text = text;
    this.isLoose = dialect === "envoy";
  }

  document(): JsonNode {
    const root = this.read(this.next("a value"), 0);
    const rest = this.text.slice(this.at).search(/[^ \t\n\r]/);
    if (rest !== -1) throw new JsonProblem(this.at + rest, "there is more after the end of the JSON value");
    return root;
  }

  private read(first: JsonToken, depth: number): JsonNode {
    const { text, offset } = first;
    if (depth > nestingLimit) throw new JsonProblem(offset, `nested deeper than ${nestingLimit} levels`);
    if (text === "{") return this.object(offset, depth);
    if (text === "[") return this.array(offset, depth);
    if (/^[}\],:]$/.test(text)) throw new JsonProblem(offset, `expected a value, found ${text}`);
    if (text.length <= longestInteger && /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text))) {
      // A double cannot hold 64-bit integers, and protobuf also reads bigints.
      return { value: BigInt(text) as unknown as JsonValue, offset, parts: undefined };
    }
    return { value: this.literal(first), offset, parts: undefined };
  }

  private literal({ text, offset }: JsonToken): JsonValue {
    try {
      return JSON.parse(this.isLoose && isQuoted(text) ? inDoubleQuotes(text) : text) as JsonValue;
    } catch {
      throw new JsonProblem(
        offset,
        "a string has an escape that JSON does not know, or a control character that must be escaped",
      );
    }
  }

  private array(offset: number, depth: number): JsonNode {
    const value: JsonValue[] = [];
    const parts = new Map<number, { offset: number; node: JsonNode }>();
    for (
      let item = this.next("a value or ]");
      item.text !== "]" || this.isAfterComma(parts);
      item = this.next("a value or ]")
    ) {
      const node = this.read(item, depth + 1);
      parts.set(value.length, { offset: node.offset, node });
      value.push(node.value);
      const separator = this.next(", or ]");
      if (separator.text === "]") break;
      if (separator.text !== ",") throw new JsonProblem(separator.offset, `expected , or ], found ${shown(separator)}`);
    }
    return { value, offset, parts };
  }

  private object(offset: number, depth: number): JsonNode {
    const value: JsonObject = {};
    const parts = new Map<string, { offset: number; node: JsonNode }>();
    for (let key = this.key(); key.text !== "}" || this.isAfterComma(parts); key = this.key()) {
      if (!isQuoted(key.text)) throw new JsonProblem(key.offset, `expected a key in quotes, found ${shown(key)}`);
      const name = this.literal(key) as string;
      if (parts.has(name)) throw new JsonProblem(key.offset, `the key ${JSON.stringify(name)} comes twice`);
      const colon = this.next(":");
      if (colon.text !== ":") throw new JsonProblem(colon.offset, `expected : after a key, found ${shown(colon)}`);
      const node = this.read(this.next("a value"), depth + 1);
      parts.set(name, { offset: key.offset, node });
      setOwn(value, name, node.value);
      const separator = this.next(", or }");
      if (separator.text === "}") break;
      if (separator.text !== ",") throw new JsonProblem(separator.offset, `expected , or }, found ${shown(separator)}`);
    }
    return { value, offset, parts };
  }

  /** Whether another item must follow: strict JSON has no trailing commas. */
  private isAfterComma(parts: ReadonlyMap<unknown, unknown>): boolean {
    return parts.size > 0 && !this.isLoose;
  }

  /** A key, with quotes added if it had none, or the token in its place. */
  private key(): JsonToken {
    this.word.lastIndex = this.at;
    const [, name] = this.word.exec(this.text) ?? [];
    if (!this.isLoose || name === undefined || /^(?:true|false|null)$/.test(name)) return this.next("a key or }");
    this.at = this.word.lastIndex;
    return { text: `"${name}"`, offset: this.at - name.length };
  }

  private next(expected: string): JsonToken {
    this.token.lastIndex = this.at;
    const match = this.token.exec(this.text);
    if (match === null) {
      const rest = this.text.slice(this.at).search(/[^ \t\n\r]/);
      if (rest === -1)
        throw new JsonProblem(this.text.length, `the text ends where ${expected} is expected: was it cut off?`);
      throw new JsonProblem(this.at + rest, unreadable(this.text.slice(this.at + rest), expected));
    }
    this.at = this.token.lastIndex;
    if (match[2] !== undefined) {
      if (match[2] === "'" && !this.isLoose)
        throw new JsonProblem(this.at - 1, `expected ${expected}; JSON knows double quotes only`);
      return this.string(this.at - 1);
    }
    const text = match[1] ?? match[3] ?? match[4] ?? "";
    return { text, offset: this.at - text.length };
  }

  /** Not a regular expression: millions of escapes would overflow its stack. */
  private string(offset: number): JsonToken {
    const quote = this.text.charCodeAt(offset);
    for (let at = offset + 1; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at);
      if (code === 0x0a || code === 0x0d) {
        if (!this.isLoose) break;
        this.broken ??= offset;
      }
      if (code === 0x5c /* \ */) at++;
      else if (code === quote) {
        this.at = at + 1;
        return { text: this.text.slice(offset, this.at), offset };
      }
    }
    throw new JsonProblem(offset, withoutEnd);
  }
}

interface JsonToken {
  readonly text: string;
  readonly offset: number;
}

/** Describes a token without showing a value: it may be a secret. */
function shown({ text }: JsonToken): string {
  if (isQuoted(text)) return "a string";
  return /^[-\d]/.test(text) ? "a number" : text;
}

function isQuoted(text: string): boolean {
  return text.startsWith('"') || text.startsWith("'");
}

/** A string in JSON's notation. */
function inDoubleQuotes(text: string): string {
  const pieces: string[] = [];
  let from = 1;
  for (let at = 1; at < text.length - 1; at++) {
    const code = text.charCodeAt(at);
    const isEscape = code === 0x5c /* \ */;
    const isRaw = code < 0x20 || code === 0x22 /* " */;
    if (isRaw || (isEscape && text[at + 1] === "'")) {
      pieces.push(text.slice(from, at), isRaw ? JSON.stringify(text[at]).slice(1, -1) : "");
      from = at + 1;
    }
    if (isEscape) at++;
  }
  return `"${pieces.join("")}${text.slice(from, -1)}"`;
}

const withoutEnd = "a string without an end, or with a line break in it";

function unreadable(rest: string, expected: string): string {
  if (rest.startsWith("//") || rest.startsWith("/*") || rest.startsWith("#"))
    return "JSON has no comments; YAML (.yaml) has";
  const first = rest.slice(0, 1);
  return `expected ${expected}, found ${/\w/.test(first) ? "a word without quotes" : JSON.stringify(first)}`;
}

function locateIn(root: JsonNode, steps: readonly FieldStep[]): number {
  let node = root;
  let offset = root.offset;
  for (const step of steps) {
    const keys = typeof step === "number" ? [step] : keysOfStep(step);
    const part = keys.map((key) => node.parts?.get(key)).find((found) => found !== undefined);
    if (part === undefined) return offset;
    offset = part.offset;
    node = part.node;
  }
  return offset;
}
