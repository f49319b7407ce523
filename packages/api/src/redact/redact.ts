import { create, type DescField, type DescMessage, type JsonObject, type Message, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import {
  isOfTypedStruct,
  isTypedStruct,
  type TypedStruct,
  type Unpack,
  type UnpackedAny,
  withContent,
} from "../messages/any.js";
import { anyDepth } from "../messages/depths.js";
import { mapList, mapRecord } from "../messages/sorted.js";
import { createPlans, fieldValue, type WalkPath, type WalkPlan, withField } from "../messages/walk-plan.js";
import { dataSourceName, hasSecrets, type Secrets, secretsOf, valueName } from "./secret-fields.js";
import { isSecretHeader, isSecretName } from "./secret-names.js";
import { hideJson, redactBytes, redacted, redactedBytes, redactJson, redactText } from "./secret-text.js";

const planOf = createPlans(hasSecrets, secretsOf);

/**
 * A message with every secret replaced by `[redacted]`: fields that the protos annotate as sensitive, names like a
 * secret's, private keys in any data source or struct, passwords in URLs. Names of files and variables stay, and so do
 * certificates. Unreadable parts are left out: the content of an `Any` of an unknown type, and unknown fields once the
 * result is serialized without them. Returns the message itself if nothing is hidden. Never changes its argument.
 */
export function redactMessage(schema: DescMessage, message: Message, unpack: Unpack): Message {
  return redactAt(planOf(schema), message, unpack, 0);
}

/** The same for callers that handle each `Any` themselves: an `Any` that is not a secret as a whole stays as it is. */
export function redactOwn(schema: DescMessage, message: Message): Message {
  return redactAt(planOf(schema), message, undefined, 0);
}

/** The bytes of a message without unknown fields. */
export function knownBytes(schema: DescMessage, message: Message): Uint8Array {
  return toBinary(schema, message, { writeUnknownFields: false });
}

function redactAt(plan: WalkPlan<Secrets>, message: Message, unpack: Unpack | undefined, depth: number): Message {
  const { kind, whole, urls, maps } = plan.own;
  if (kind === "any") return redactAny(message as Any, unpack, depth);
  if (kind === "data") return mapData(message as InlineOrNamedData, redactValue);
  if (kind === "text") return redactWrapped(message as Wrapped);
  let result = message;
  const replace = (field: DescField, change: (value: unknown) => unknown): void => {
    const before = fieldValue(result, field);
    if (before === undefined) return;
    const after = change(before);
    if (after !== before) result = withField(result, field, after);
  };
  for (const field of whole) replace(field, (value) => hide(field, value));
  for (const field of urls)
    replace(field, (value) => (Array.isArray(value) ? mapList(value, redactValue) : redactValue(value)));
  for (const field of maps) replace(field, (value) => redactMap(value as { readonly [key: string]: unknown }));
  for (const path of plan.paths) {
    if (whole.includes(path.field)) continue;
    replace(path.field, (value) => redactField(path, value, unpack, depth));
  }
  if (kind === "pair") return redactPair(plan.schema, result);
  if (kind === "value") return redactStructValue(result as ValueMessage);
  return kind === "struct" ? redactStruct(result as StructMessage) : result;
}

function redactField(path: WalkPath<Secrets>, value: unknown, unpack: Unpack | undefined, depth: number): unknown {
  const one = path.jsonStruct ? redactJson : (item: unknown) => redactAt(path.plan, item as Message, unpack, depth);
  if (path.shape === "list") return mapList(value as readonly unknown[], one);
  if (path.shape === "map") return mapRecord(value as { readonly [key: string]: unknown }, one);
  return one(value);
}

function redactAny(any: Any, unpack: Unpack | undefined, depth: number): Any {
  if (any.typeUrl === "" || unpack === undefined) return any;
  const content = depth < anyDepth ? unpack(any) : undefined;
  if (content === undefined) return any.value.byteLength === 0 ? any : { ...any, value: nothing };
  const value = knownBytes(content.struct?.schema ?? content.schema, redactContent(content, unpack, depth + 1));
  return Buffer.compare(value, any.value) === 0 ? any : { ...any, value };
}

/** The message in an `Any` without its secrets: a TypedStruct stays one. */
export function redactContent(content: UnpackedAny, unpack: Unpack, depth = 0): Message {
  const { schema, message, struct, isUnread } = content;
  if (isUnread || (isTypedStruct(schema) && isOfTypedStruct(message as TypedStruct)))
    return hidden(message as TypedStruct);
  const after = redactAt(planOf(schema), message, unpack, depth);
  if (struct === undefined) return after;
  if (after === message && struct.isWhole) return struct.message;
  try {
    return withContent(struct, schema, after);
  } catch {
    // JSON has no empty form of some messages, such as a Value below the depth to which content is read.
    return hidden(struct.message);
  }
}

function hidden(struct: TypedStruct): TypedStruct {
  return { ...struct, value: hideJson(struct.value ?? {}) as JsonObject };
}

const nothing = new Uint8Array();

/** A field that is a secret as a whole: only its shape stays. */
function hide(field: DescField, value: unknown): unknown {
  const one = (item: unknown): unknown => hideValue(field.message, item);
  if (field.fieldKind === "list") return mapList(value as readonly unknown[], one);
  if (field.fieldKind === "map") return mapRecord(value as { readonly [key: string]: unknown }, one);
  return one(value);
}

function hideValue(schema: DescMessage | undefined, value: unknown): unknown {
  if (typeof value === "string") return value === "" ? value : redacted;
  if (value instanceof Uint8Array) return value.byteLength === 0 ? value : redactedBytes();
  if (schema === undefined) return value;
  const { typeName } = schema;
  if (typeName === dataSourceName) return mapData(value as InlineOrNamedData, (inline) => hideValue(undefined, inline));
  if (typeName === "google.protobuf.Any") return { ...(value as Any), value: nothing };
  if (typeName === valueName) return withText(value as ValueMessage, redacted);
  // A struct is plain JSON in a field.
  if (typeName === "google.protobuf.Struct" && !("$typeName" in (value as object))) return hideJson(value);
  return create(schema);
}

/** Texts by key: hidden if the key names a secret. */
function redactMap(map: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const before = Object.entries(map);
  const after = before.map(([key, value]) => (isSecretHeader(key) ? hideValue(undefined, value) : redactValue(value)));
  if (after.every((value, index) => value === before[index]?.[1])) return map;
  return Object.fromEntries(before.map(([key], index) => [key, after[index]]));
}

interface Wrapped extends Message {
  readonly value: unknown;
}

function redactWrapped(message: Wrapped): Message {
  const value = redactValue(message.value);
  return value === message.value ? message : ({ ...message, value } as Wrapped);
}

interface InlineOrNamedData extends Message {
  readonly specifier: { readonly case: string | undefined; readonly value?: unknown };
}

/** Only inline content: the name of a file or a variable stays. */
function mapData(source: InlineOrNamedData, change: (inline: unknown) => unknown): InlineOrNamedData {
  const { specifier } = source;
  if (specifier.case !== "inlineString" && specifier.case !== "inlineBytes") return source;
  const value = change(specifier.value);
  return value === specifier.value ? source : { ...source, specifier: { ...specifier, value } };
}

function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  return value instanceof Uint8Array ? redactBytes(value) : value;
}

function redactPair(schema: DescMessage, message: Message): Message {
  const { name, key = name } = message as Message & { readonly key?: unknown; readonly name?: unknown };
  if (typeof key !== "string" || !isSecretHeader(key)) return message;
  let result = message;
  for (const field of schema.fields) {
    const value = field.name === "key" || field.name === "name" ? undefined : fieldValue(result, field);
    const after = value === undefined ? value : hideValue(field.message, value);
    if (after !== value) result = withField(result, field, after);
  }
  return result;
}

interface ValueMessage extends Message {
  readonly kind: { readonly case?: string; readonly value?: unknown };
}

interface StructMessage extends Message {
  readonly fields: { readonly [key: string]: ValueMessage };
}

/** A struct as a message, not as the plain JSON that it is in a field. Its values have no secrets of their own. */
function redactStruct(struct: StructMessage): Message {
  const fields = Object.entries(struct.fields).map(([key, value]) => {
    const isHidden = isSecretName(key) && value.kind.case !== "nullValue" && value.kind.case !== undefined;
    return [key, isHidden ? withText(value, redacted) : value];
  });
  return { ...struct, fields: Object.fromEntries(fields) } as Message;
}

function redactStructValue(value: ValueMessage): ValueMessage {
  if (value.kind.case !== "stringValue") return value;
  const text = String(value.kind.value);
  const after = redactText(text);
  return after === text ? value : withText(value, after);
}

function withText(value: ValueMessage, text: string): ValueMessage {
  return { ...value, kind: { case: "stringValue", value: text } };
}
