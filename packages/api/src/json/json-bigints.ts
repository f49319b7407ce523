import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { typeNameOf } from "../messages/any.js";
import { isObject, keepWritten, setOwn } from "../text/source-document.js";

/**
 * The parsers return bigints for integers that a double cannot hold, so that 64-bit fields keep every digit. This turns
 * them into numbers where a field takes a double, and inside a `Struct`. Run it only after a message with such a number
 * was refused.
 */
export function narrowBigints(schema: DescMessage, json: JsonValue, registry: Registry): JsonValue {
  if (typeof json === "bigint") return takesBigint(schema.fields[0]) ? json : Number(json);
  if (schema.typeName === "google.protobuf.Any") return isObject(json) ? narrowAny(json, registry) : json;
  if (schema.file.name === "google/protobuf/struct") return allNarrowed(json);
  if (!isObject(json)) return json;
  return mapObject(json, (value, key) => {
    const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    return field === undefined ? value : narrowField(field, value, registry);
  });
}

/** Whether a value contains a bigint. */
export function hasBigint(json: JsonValue): boolean {
  if (Array.isArray(json)) return json.some(hasBigint);
  return isObject(json) ? Object.values(json).some(hasBigint) : typeof json === "bigint";
}

function narrowField(field: DescField, json: JsonValue, registry: Registry): JsonValue {
  const one = (value: JsonValue): JsonValue => {
    if (field.message !== undefined) return narrowBigints(field.message, value, registry);
    return typeof value === "bigint" && !takesBigint(field) ? Number(value) : value;
  };
  if (Array.isArray(json) && field.fieldKind === "list") {
    const list = json.map(one);
    keepWritten(json, list);
    return list;
  }
  return isObject(json) && field.fieldKind === "map" ? mapObject(json, one) : one(json);
}

function narrowAny(json: JsonObject, registry: Registry): JsonValue {
  const url = json["@type"];
  const schema = typeof url === "string" ? registry.getMessage(typeNameOf(url)) : undefined;
  if (schema === undefined) return json;
  const isValue = isWrapperDesc(schema) || schema.file.name === "google/protobuf/struct";
  if (!isValue) return narrowBigints(schema, json, registry);
  return mapObject(json, (value, key) => (key === "value" ? narrowBigints(schema, value, registry) : value));
}

function allNarrowed(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(allNarrowed);
  if (isObject(json)) return mapObject(json, allNarrowed);
  return typeof json === "bigint" ? Number(json) : json;
}

function mapObject(json: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject {
  const changed: JsonObject = {};
  keepWritten(json, changed);
  for (const [key, value] of Object.entries(json)) setOwn(changed, key, change(value, key));
  return changed;
}

function takesBigint(field: DescField | undefined): boolean {
  return field?.scalar !== ScalarType.DOUBLE && field?.scalar !== ScalarType.FLOAT;
}
