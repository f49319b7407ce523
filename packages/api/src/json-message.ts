import {
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import { canonicalJson } from "./canonical-json.js";
import type { FieldProblem } from "./field-problem.js";
import { hasBigint, narrowBigints } from "./json-bigints.js";
import { explainJson } from "./json-explain.js";
import { keepWritten, setOwn } from "./source-document.js";
import { takeUnknown } from "./unknown/json-reader.js";

/** A message, or all that is wrong with it (at least one problem). */
export type ReadMessage =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "problems"; readonly problems: readonly FieldProblem[] };

/**
 * The proto3 JSON mapping of one message, both spellings of fields read, the other forms that Envoy takes, and what
 * is in it in base64 (`unknown/keys.ts`); `@type` is not one of its fields.
 * Not careful, it lets pass what `mayHideMistakes` tells.
 */
export function readJsonMessage(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  options: { readonly careful: boolean } = { careful: true },
): ReadMessage {
  return readTaken(schema, json, registry, (clean) => readPlain(schema, clean, registry, options));
}

function readPlain(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  { careful }: { readonly careful: boolean },
): ReadMessage {
  try {
    const message = parse(schema, json, registry);
    const problems = careful ? explainJson(schema, json, registry) : [];
    return problems.length === 0 ? { kind: "message", message } : { kind: "problems", problems };
  } catch (error) {
    const problems = explainJson(schema, json, registry);
    if (problems.length > 0) return { kind: "problems", problems };
    const message = error instanceof RangeError ? "nested too deep" : reasonOf(error);
    return { kind: "problems", problems: [{ code: "XDSKIT_FIELD_INVALID", steps: [], message }] };
  }
}

/** Reads a message, and once more without what is in it in base64, where that is why it cannot be read. */
function readTaken(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  read: (json: JsonValue) => ReadMessage,
): ReadMessage {
  const plain = read(json);
  if (plain.kind === "message") return plain;
  const taken = takeUnknown(schema, json, registry);
  if (taken === undefined) return plain;
  const known = read(taken.json);
  const problems = [...taken.problems, ...(known.kind === "problems" ? known.problems : [])];
  if (known.kind === "message" && problems.length === 0) problems.push(...taken.restore(known.message));
  return problems.length > 0 || known.kind === "problems" ? { kind: "problems", problems } : known;
}

function parse(schema: DescMessage, json: JsonValue, registry: Registry, ignoreUnknownFields = false): Message {
  try {
    return fromJson(schema, json, { registry, ignoreUnknownFields });
  } catch {
    const narrowed = hasBigint(json) ? narrowBigints(schema, json, registry) : json;
    return fromJson(schema, canonicalJson(schema, narrowed, registry), { registry, ignoreUnknownFields });
  }
}

/**
 * The same for what a peer sends, which may be newer than we are: fields that are not known are passed over, as in binary. All else that is wrong is told, also
 * values of enums that are not known: taken for nothing they would change what is meant.
 */
export function readSentJsonMessage(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  options: { readonly careful: boolean },
): ReadMessage {
  const read = readJsonMessage(schema, json, registry, options);
  if (read.kind === "message") return read;
  const [first, ...more] = read.problems.filter(({ code }) => code !== "XDSKIT_FIELD_UNKNOWN");
  if (first !== undefined) return { kind: "problems", problems: [first, ...more] };
  const taken = takeUnknown(schema, json, registry);
  try {
    const message = parse(schema, taken?.json ?? json, registry, true);
    const problems = taken?.restore(message) ?? [];
    return problems.length === 0 ? { kind: "message", message } : { kind: "problems", problems };
  } catch (error) {
    return { kind: "problems", problems: [{ code: "XDSKIT_FIELD_INVALID", steps: [], message: reasonOf(error) }] };
  }
}

/** The object without some of its keys. */
export function without(object: JsonObject, ...keys: readonly string[]): JsonObject {
  const others: JsonObject = {};
  for (const key of Object.keys(object)) if (!keys.includes(key)) setOwn(others, key, object[key] ?? null);
  keepWritten(object, others);
  return others;
}

/** `cannot decode field a.B.c from JSON` without what follows: it may hold the value. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return /^cannot decode .*? from JSON/.exec(message)?.[0] ?? message;
}
