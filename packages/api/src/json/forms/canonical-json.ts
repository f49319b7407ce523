import {
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { typeNameOf } from "../../names/identifiers.js";
import { isObject, keepWritten, setOwn, writtenAs } from "../../text/source-document.js";
import { enumForm, scalarForm, wellKnownForm } from "./json-forms.js";
import { hasOwnJsonForm } from "./own-form.js";

/** The type of a field, a list item or the value of a map entry. */
type ValueDesc = Pick<DescField, "message" | "enum" | "scalar">;

/**
 * Reads a message from JSON, which may use other forms than the canonical one. Throws an Error if it is not valid; its
 * message may hold a value.
 */
export function messageFromJson(
  schema: DescMessage,
  json: JsonValue,
  registry: Registry,
  ignoreUnknownFields = false,
): Message {
  const options = { registry, ignoreUnknownFields };
  try {
    return fromJson(schema, json, options);
  } catch {
    return fromJson(schema, canonicalJson(schema, json, options), options);
  }
}

interface FormOptions {
  readonly registry: Registry;
  readonly ignoreUnknownFields: boolean;
}

/**
 * The canonical JSON of a message that may use other forms which Envoy accepts. Invalid values stay as they are. Run it
 * only after the plain reader has refused: it makes a copy. Throws at the first field that the reader would refuse: the
 * rest may be long.
 */
function canonicalJson(schema: DescMessage, json: JsonValue, options: FormOptions): JsonValue {
  if (schema.typeName === "google.protobuf.Any") return anyForm(json, options);
  if (isWrapperDesc(schema)) return wrapperForm(schema, json);
  if (hasOwnJsonForm(schema)) return wellKnownForm(schema.typeName, json);
  if (!isObject(json)) return json;
  const canonical: JsonObject = {};
  keepWritten(json, canonical);
  for (const key of Object.keys(json)) {
    const value = json[key] ?? null;
    const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    if (field === undefined) {
      if (!options.ignoreUnknownFields && key !== "@type") throw new Error(`${schema.typeName} has no such field`);
      setOwn(canonical, key, value);
    }
    // Null means that the field is not set, also beside another field of its oneof.
    else if (value !== null || takesNull(field)) setOwn(canonical, key, fieldForm(field, value, json, key, options));
  }
  return canonical;
}

/** Whether a nested list means the same as one flat list: Envoy takes the items of both. */
export function isFlat({ message }: ValueDesc): boolean {
  return message === undefined || !/^google\.protobuf\.(?:Value|ListValue)$/.test(message.typeName);
}

function fieldForm(field: DescField, json: JsonValue, container: object, key: string, options: FormOptions): JsonValue {
  if (field.fieldKind === "list") {
    const list = Array.isArray(json) ? json : [json];
    if (!Array.isArray(json)) keepWritten(container, list, key);
    return isFlat(field)
      ? [...itemForms(field, list, options)]
      : list.map((item) => valueForm(field, item, undefined, options));
  }
  if (field.fieldKind !== "map") return valueForm(field, json, writtenAs(container, key), options);
  if (!isObject(json)) return json;
  const map: JsonObject = {};
  for (const [name, value] of Object.entries(json)) {
    const form = value === null ? emptyForm(field) : valueForm(field, value, writtenAs(json, name), options);
    setOwn(map, name, form);
  }
  return map;
}

function* itemForms(desc: ValueDesc, list: readonly JsonValue[], options: FormOptions): Generator<JsonValue> {
  for (const [index, item] of list.entries()) {
    if (Array.isArray(item)) yield* itemForms(desc, item, options);
    else yield item === null ? null : valueForm(desc, item, writtenAs(list, index), options);
  }
}

function valueForm(
  desc: Partial<ValueDesc>,
  json: JsonValue,
  written: string | undefined,
  options: FormOptions,
): JsonValue {
  if (desc.enum !== undefined) return enumForm(desc.enum, json, written);
  if (desc.message === undefined) return scalarForm(desc.scalar, json, written);
  const isWrapper = isWrapperDesc(desc.message);
  return isWrapper ? wrapperForm(desc.message, json, written) : canonicalJson(desc.message, json, options);
}

/** A wrapper is a bare value. Envoy also accepts its message form. */
export function wrapperForm(schema: DescMessage, json: JsonValue, written?: string): JsonValue {
  const [field] = schema.fields;
  if (!isObject(json)) return scalarForm(field?.scalar, json, written);
  const { value = null, ...others } = json;
  if (Object.keys(others).length > 0) return json;
  return value === null ? zeroOf(field?.scalar) : scalarForm(field?.scalar, value, writtenAs(json, "value"));
}

function anyForm(json: JsonValue, options: FormOptions): JsonValue {
  const url = isObject(json) ? json["@type"] : undefined;
  const schema = typeof url === "string" ? options.registry.getMessage(typeNameOf(url)) : undefined;
  if (schema === undefined || !isObject(json)) return json;
  if (!hasOwnJsonForm(schema)) return canonicalJson(schema, json, options);
  const { value = null } = json;
  const desc = { message: schema };
  const form = value === null ? emptyForm(desc) : valueForm(desc, value, writtenAs(json, "value"), options);
  return { ...json, value: form };
}

/** The empty value, for places that require one. */
export function emptyForm(desc: Partial<ValueDesc>): JsonValue {
  const { message, enum: values, scalar } = desc;
  if (values !== undefined) return firstOf(values);
  if (message === undefined) return zeroOf(scalar);
  if (isWrapperDesc(message)) return zeroOf(message.fields[0]?.scalar);
  switch (message.typeName) {
    case "google.protobuf.Duration":
      return "0s";
    case "google.protobuf.Timestamp":
      return "1970-01-01T00:00:00Z";
    case "google.protobuf.FieldMask":
      return "";
    case "google.protobuf.ListValue":
      return [];
    case "google.protobuf.Value":
      return null;
    default:
      return {};
  }
}

function firstOf({ values }: DescEnum): number {
  return values[0]?.number ?? 0;
}

function zeroOf(scalar: ScalarType | undefined): JsonValue {
  if (scalar === ScalarType.BOOL) return false;
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES ? "" : 0;
}

function takesNull(field: DescField): boolean {
  return field.fieldKind === "message"
    ? field.message.typeName === "google.protobuf.Value"
    : field.enum?.typeName === "google.protobuf.NullValue";
}
