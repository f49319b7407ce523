import type { JsonValue } from "@bufbuild/protobuf";
import type { Options } from "./facts.js";

/** The kinds of elements that options belong to. */
export type OptionOwner = "file" | "message" | "oneof" | "field" | "enum" | "value" | "service" | "method";

interface ShortWord {
  readonly word: string;
  /** The option's name in protobuf's JSON, and the only key of its value if that is an object with one key. */
  readonly option: string;
  readonly key?: string;
  readonly owner?: OptionOwner;
}

/** Frequent options, and options that a reader of a diff should see at once. All others have their full names. */
const shortWords: readonly ShortWord[] = [
  { word: "was", option: "[udpa.annotations.versioning]", key: "previous_message_type" },
  { word: "status", option: "[udpa.annotations.file_status]", key: "package_version_status" },
  { word: "work_in_progress", option: "[xds.annotations.v3.file_status]", key: "work_in_progress", owner: "file" },
  {
    word: "work_in_progress",
    option: "[xds.annotations.v3.message_status]",
    key: "work_in_progress",
    owner: "message",
  },
  { word: "work_in_progress", option: "[xds.annotations.v3.field_status]", key: "work_in_progress", owner: "field" },
  { word: "sensitive", option: "[udpa.annotations.sensitive]" },
  { word: "deprecated_at", option: "[envoy.annotations.deprecated_at_minor_version]", owner: "field" },
  { word: "deprecated_at", option: "[envoy.annotations.deprecated_at_minor_version_enum]", owner: "value" },
  { word: "disallowed_by_default", option: "[envoy.annotations.disallowed_by_default]", owner: "field" },
  { word: "disallowed_by_default", option: "[envoy.annotations.disallowed_by_default_enum]", owner: "value" },
  { word: "required", option: "[validate.required]" },
  { word: "resource", option: "[envoy.annotations.resource]", key: "type" },
  { word: "http", option: "[google.api.http]" },
];

/** A field's rules have no word. */
const rules = "[validate.rules]";

/** Options as words: `deprecated`, `was=envoy.api.v2.Cluster`, `{string: {min_len: 1}}`. */
export function wordsOf(options: Options, owner: OptionOwner): string[] {
  const words = Object.entries(options)
    .filter(([option]) => option !== rules)
    .map(([option, value]) => {
      const short = shortWords.find((each) => isFor(each, option, value, owner));
      const word = short?.word ?? option.replace(/^\[|\]$/g, "");
      return assigned(word, short?.key === undefined ? value : (value as Options)[short.key]!);
    });
  const ofField = options[rules];
  return ofField === undefined ? words : [...words, compact(ofField)];
}

function isFor(short: ShortWord, option: string, value: JsonValue, owner: OptionOwner): boolean {
  if (short.option !== option || (short.owner ?? owner) !== owner) return false;
  if (short.key === undefined) return true;
  return typeof value === "object" && value !== null && Object.keys(value).join() === short.key;
}

/** The option that a word means, with its value. */
export function optionOf(word: string, owner: OptionOwner): readonly [option: string, value: JsonValue] {
  if (word.startsWith("{")) return [rules, parseCompact(word)];
  const [name, value] = split(word);
  const short = shortWords.find((each) => each.word === name && (each.owner ?? owner) === owner);
  if (short !== undefined) return [short.option, short.key === undefined ? value : { [short.key]: value }];
  return [name.includes(".") ? `[${name}]` : name, value];
}

/** `word` for true, otherwise `word=value`. */
export function assigned(word: string, value: JsonValue): string {
  if (value === true) return word;
  return `${word}=${typeof value === "string" && isPlainWord(value) ? value : compact(value)}`;
}

/** A word and its value, which defaults to true. */
export function split(word: string): readonly [name: string, value: JsonValue] {
  const at = word.indexOf("=");
  if (at === -1) return [word, true];
  const text = word.slice(at + 1);
  return [word.slice(0, at), isPlainWord(text) ? text : parseCompact(text)];
}

/** Whether a string is unambiguous without quotes. */
function isPlainWord(text: string): boolean {
  return /^[\w./:+-]+$/.test(text) && text !== "true" && text !== "false";
}

/** JSON on one line, without quotes around keys. */
function compact(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${key}: ${compact(each)}`)
    .join(", ")}}`;
}

/** Throws a SyntaxError if it is malformed. */
function parseCompact(text: string): JsonValue {
  const json = text.replace(/"(?:[^"\\]|\\.)*"|([\w.]+)(?=:)/g, (whole, key?: string) =>
    key === undefined ? whole : JSON.stringify(key),
  );
  return JSON.parse(json) as JsonValue;
}

/** The words of a line, separated by spaces, except inside braces, brackets and strings. */
export function wordsIn(line: string): string[] {
  const words: string[] = [];
  let depth = 0;
  let word = "";
  for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*"|./gs)) {
    if (token === " " && depth === 0) {
      if (word !== "") words.push(word);
      word = "";
      continue;
    }
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
    word += token;
  }
  return word === "" ? words : [...words, word];
}
