import type { DescMessage, JsonObject, JsonValue, Message, Registry } from "@bufbuild/protobuf";
import type { FieldProblem } from "../errors/field-problem.js";
import { messageOf } from "../errors/findings.js";
import { maxFindings } from "../errors/limits.js";
import { keepWritten, setOwn } from "../text/source-document.js";
import { takeUnknown } from "../unknown/json-reader.js";
import { typeUrlKey, unknownKey, valueKey } from "../unknown/keys.js";
import { messageFromJson } from "./forms/canonical-json.js";
import { explainJson } from "./json-explain.js";

/** A message, or all its problems (at least one). */
export type ReadMessage =
  | { readonly kind: "message"; readonly message: Message }
  | { readonly kind: "problems"; readonly problems: readonly FieldProblem[] };

/** How a message is read. */
export interface MessageReading {
  readonly careful: boolean;
  /** Makes it of valid JSON. Default: the whole of it. */
  readonly make?: ((schema: DescMessage, json: JsonValue, registry: Registry) => Message) | undefined;
}

/**
 * Reads one message by the proto3 JSON mapping: both spellings of fields, the other forms that Envoy accepts, and its
 * parts in base64 (`unknown/keys.ts`). `@type` is not one of its fields. With `careful` it looks for problems before it
 * makes a message, and without it accepts the mistakes that `mayHideMistakes` detects.
 */
export function readJsonMessage(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  options: MessageReading = { careful: true },
): ReadMessage {
  return readTaken(schema, json, registry, (clean) => readPlain(schema, clean, registry, options));
}

function readPlain(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  { careful, make = messageFromJson }: MessageReading,
): ReadMessage {
  const problems = careful ? explainJson(schema, json, registry) : [];
  if (problems.length > 0) return { kind: "problems", problems };
  try {
    return { kind: "message", message: make(schema, json, registry) };
  } catch (error) {
    const problems = careful ? [] : explainJson(schema, json, registry);
    if (problems.length > 0) return { kind: "problems", problems };
    const message = error instanceof RangeError ? "nested too deep" : reasonOf(error);
    return { kind: "problems", problems: [{ code: "XDSKIT_FIELD_INVALID", steps: [], message }] };
  }
}

/** Reads a message, and a second time without its base64 parts if they are the reason why it cannot be read. */
function readTaken(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  read: (json: JsonValue) => ReadMessage,
): ReadMessage {
  const plain = read(json);
  if (plain.kind === "message") return plain;
  // Nobody is told more, and these stay without the parts in base64.
  if (plain.problems.length >= maxFindings && plain.problems.every(isUnknownField)) return plain;
  const taken = takeUnknown(schema, json, registry);
  if (taken === undefined) return plain;
  const known = read(taken.json);
  const problems = [...taken.problems, ...(known.kind === "problems" ? known.problems : [])];
  if (known.kind === "message" && problems.length === 0) problems.push(...taken.restore(known.message));
  return problems.length > 0 || known.kind === "problems" ? { kind: "problems", problems } : known;
}

function isUnknownField({ code, steps }: FieldProblem): boolean {
  const last = steps.at(-1);
  return code === "XDSKIT_FIELD_UNKNOWN" && last !== unknownKey && last !== typeUrlKey && last !== valueKey;
}

/**
 * The same for a message from a peer, which may be newer: unknown fields are ignored, as in binary. All other problems
 * are reported, unknown enum values too: if they were dropped, the meaning would change.
 */
export function readSentJsonMessage(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  options: { readonly careful: boolean },
): ReadMessage {
  const read = readJsonMessage(schema, json, registry, options);
  if (read.kind === "message") return read;
  const wrong = read.problems.filter(({ code }) => code !== "XDSKIT_FIELD_UNKNOWN");
  if (wrong.length > 0) return { kind: "problems", problems: wrong };
  const taken = takeUnknown(schema, json, registry);
  const known = taken?.json ?? json;
  if (read.problems.length >= maxFindings) {
    // Unknown fields used up the limit: the others may have problems as well.
    const others = explainJson(schema, known, registry, true);
    if (others.length > 0) return { kind: "problems", problems: others };
  }
  try {
    const message = messageFromJson(schema, known, registry, true);
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

/** `cannot decode field a.B.c from JSON` without the rest, which may contain the value. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return /^cannot decode .*? from JSON/.exec(message)?.[0] ?? message;
}
