import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { maxValues, tooManyValues } from "../errors/limits.js";
import { longestInteger, nestingLimit, type SourceText, setOwn } from "../text/source-document.js";
import { JsonPlaces } from "./json-places.js";
import { countKeys, scanJson } from "./json-scan.js";
import { inDoubleQuotes, isQuoted } from "./json-strings.js";

/**
 * Reads a JSON text. A duplicate key is a problem, and so are more values than a text of this length may have.
 * Positions are computed only on request.
 *
 * @param dialect `envoy` also accepts trailing commas, single quotes, keys without quotes, and line breaks in strings
 */
export function parseJson(text: string, dialect: "core" | "envoy" = "core"): SourceText {
  const most = maxValues(text.length);
  const scan = scanJson(text, most);
  if (scan.tooMany !== undefined)
    return { documents: [], problems: [{ offset: scan.tooMany, message: tooManyValues(most) }] };
  // Numbers of many digits, and deep values, go to the reader below: the code that counts keys is recursive.
  if (!scan.hasLongNumbers && scan.depth <= nestingLimit) {
    try {
      const value = JSON.parse(text) as JsonValue;
      if (scan.keys === countKeys(value)) return { documents: [documentOf(text, value)], problems: [] };
    } catch (error) {
      // Not JSON: the reader below says where and why.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const reader = new ExplainingJsonReader(text, dialect, most);
  try {
    return { documents: [documentOf(text, reader.document())], problems: [] };
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    // After a missing quote the string continues on the next line, and nothing after it makes sense.
    const { broken } = reader;
    const problem = broken === undefined ? error : { offset: broken, message: withoutEnd };
    return { documents: [], problems: [{ offset: problem.offset, message: problem.message }] };
  }
}

function documentOf(text: string, value: JsonValue): SourceText["documents"][number] {
  const places = new JsonPlaces(text);
  return { value, offset: places.locate([]), locate: (steps) => places.locate(steps) };
}

class JsonProblem extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const token = /[ \t\n\r]*(?:([{}[\],:])|(["'])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null)\b)/y;

/** A JSON parser that knows where it is. It is slow, and runs only on texts with something wrong or unusual. */
class ExplainingJsonReader {
  private readonly text: string;
  /** Whether to accept the same forms as Envoy. */
  private readonly isLoose: boolean;
  private readonly most: number;
  private values = 0;
  private at = 0;
  private readonly token = new RegExp(token.source, token.flags);
  private readonly word = /[ \t\n\r]*([A-Za-z_]\w*)/y;
  /** The offset of the first string with a line break. */
  broken: number | undefined;

  constructor(text: string, dialect: "core" | "envoy", most: number) {
    this.text = text;
    this.most = most;
    this.isLoose = dialect === "envoy";
  }

  document(): JsonValue {
    const root = this.read(this.next("a value"), 0);
    const rest = this.text.slice(this.at).search(/[^ \t\n\r]/);
    if (rest !== -1) throw new JsonProblem(this.at + rest, "there is more after the end of the JSON value");
    return root;
  }

  private read(first: JsonToken, depth: number): JsonValue {
    const { text, offset } = first;
    if (depth > nestingLimit) throw new JsonProblem(offset, `nested deeper than ${nestingLimit} levels`);
    // Not what the scan counts: it takes a single quote for a part of a text.
    if (++this.values > this.most) throw new JsonProblem(offset, tooManyValues(this.most));
    if (text === "{") return this.object(depth);
    if (text === "[") return this.array(depth);
    if (/^[}\],:]$/.test(text)) throw new JsonProblem(offset, `expected a value, found ${text}`);
    if (text.length <= longestInteger && /^-?\d+$/.test(text) && !Number.isSafeInteger(Number(text))) {
      // A double cannot hold 64-bit integers, and protobuf also reads bigints.
      return BigInt(text) as unknown as JsonValue;
    }
    return this.literal(first);
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

  private array(depth: number): JsonValue {
    const value: JsonValue[] = [];
    for (
      let item = this.next("a value or ]");
      item.text !== "]" || this.isAfterComma(value.length);
      item = this.next("a value or ]")
    ) {
      value.push(this.read(item, depth + 1));
      const separator = this.next(", or ]");
      if (separator.text === "]") break;
      if (separator.text !== ",") throw new JsonProblem(separator.offset, `expected , or ], found ${shown(separator)}`);
    }
    return value;
  }

  private object(depth: number): JsonValue {
    const value: JsonObject = {};
    let count = 0;
    for (let key = this.key(); key.text !== "}" || this.isAfterComma(count); key = this.key()) {
      if (!isQuoted(key.text)) throw new JsonProblem(key.offset, `expected a key in quotes, found ${shown(key)}`);
      const name = this.literal(key) as string;
      if (Object.hasOwn(value, name)) throw new JsonProblem(key.offset, `the key ${JSON.stringify(name)} comes twice`);
      const colon = this.next(":");
      if (colon.text !== ":") throw new JsonProblem(colon.offset, `expected : after a key, found ${shown(colon)}`);
      setOwn(value, name, this.read(this.next("a value"), depth + 1));
      count += 1;
      const separator = this.next(", or }");
      if (separator.text === "}") break;
      if (separator.text !== ",") throw new JsonProblem(separator.offset, `expected , or }, found ${shown(separator)}`);
    }
    return value;
  }

  /** Whether another item must follow: strict JSON has no trailing commas. */
  private isAfterComma(count: number): boolean {
    return count > 0 && !this.isLoose;
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

const withoutEnd = "a string without an end, or with a line break in it";

function unreadable(rest: string, expected: string): string {
  if (rest.startsWith("//") || rest.startsWith("/*") || rest.startsWith("#"))
    return "JSON has no comments; YAML (.yaml) has";
  const first = rest.slice(0, 1);
  return `expected ${expected}, found ${/\w/.test(first) ? "a word without quotes" : JSON.stringify(first)}`;
}
