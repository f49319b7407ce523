import {
  clone,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../errors/field-path.js";
import { maxFindings } from "../errors/limits.js";
import { hasOwnJsonForm } from "../json/forms/own-form.js";
import { createUnpack, isTypedStruct, unpackStruct } from "../messages/any.js";
import { anyDepth } from "../messages/depths.js";
import { fieldValue, type MessageField } from "../messages/walk-plan.js";
import { typeNameOf } from "../names/identifiers.js";
import { redactContent, redactOwn } from "../redact/redact.js";
import { redacted } from "../redact/secret-text.js";
import { isObject, setOwn } from "../text/source-document.js";
import { fieldBytes } from "../wire/wire-writer.js";
import { standInUrl, typeUrlKey, unknownKey, valueKey } from "./keys.js";
import { childrenOf, hasUnknownFields, isPlain, messageFields, unknownBytes } from "./unknown-fields.js";

/** A part of a message that JSON cannot express, so that it is in base64. */
export interface KeptAsBytes {
  /** The steps to the message with the fields, or to the `Any`. */
  readonly steps: readonly FieldStep[];
  /** Its description: `field 99`, `the content (own.Filter)`. */
  readonly what: string;
}

/** How to write JSON. */
export interface JsonWriting {
  /** Resolves the content of `Any`s. */
  readonly registry: Registry;
  readonly useProtoFieldName: boolean;
  /** Hides secrets, and unknown content, since it may be one. */
  readonly hide?: boolean | undefined;
}

/** The result. */
export interface WrittenJson {
  readonly json: JsonValue;
  readonly kept: readonly KeptAsBytes[];
  /** Whether something was hidden. */
  readonly hidden: boolean;
}

/** Thrown if JSON cannot express a valid message. */
class Unsayable extends Error {}

/**
 * A message in proto3's JSON mapping, with the rest in base64 as described in `keys.ts`. Throws an Error if only an
 * `Any` could express it, or if JSON cannot, such as for an infinite number in a `Struct`.
 */
export function messageJson(schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  const writer = new JsonWriter(writing);
  return writer.written(
    schema.typeName === AnySchema.typeName ? writer.any(message as Any) : writer.root(schema, clone(schema, message)),
  );
}

/** The same for a message as the content of an `Any` with this type URL. Throws an Error if JSON cannot express it. */
export function typedJson(typeUrl: string, schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  return contentJson(typeUrl, schema, clone(schema, message), writing);
}

/** The same for a message that nobody else uses: it is changed on the way. */
export function contentJson(typeUrl: string, schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  const writer = new JsonWriter(writing);
  return writer.written(writer.content(typeUrl, schema, message, undefined, 0));
}

/** An `Any` that JSON cannot express. */
export function binaryForm({ typeUrl, value }: Pick<Any, "typeUrl" | "value">): JsonObject {
  return { "@type": standInUrl, [typeUrlKey]: typeUrl, [valueKey]: base64(value) };
}

/** The parts that must be added to a message's JSON. */
interface Additions {
  readonly unknown: Uint8Array | undefined;
  readonly parts: readonly JsonPart[];
}

interface JsonPart {
  readonly field: MessageField;
  readonly at: number | string | undefined;
  readonly put: JsonObject | Additions;
  readonly isAny: boolean;
}

class JsonWriter {
  readonly #writing: JsonWriting;
  readonly #kept: KeptAsBytes[] = [];
  #hidden = false;

  constructor(writing: JsonWriting) {
    this.#writing = writing;
  }

  written(json: JsonValue): WrittenJson {
    return { json, kept: this.#kept, hidden: this.#hidden };
  }

  root(schema: DescMessage, message: Message): JsonValue {
    const { json, unknown } = this.#fields(schema, message, undefined, 0);
    if (unknown !== undefined && !this.#add(json, unknown)) throw new Unsayable(noForm);
    return json;
  }

  any(any: Any, path?: FieldPath, depth = 0): JsonObject {
    const { typeUrl, value } = any;
    const unknown = unknownBytes(any);
    if (typeUrl === "" && value.byteLength === 0 && unknown === undefined) return {};
    const schema = depth < anyDepth ? this.#writing.registry.getMessage(typeNameOf(typeUrl)) : undefined;
    const noted = this.#kept.length;
    if (schema !== undefined && unknown === undefined) {
      try {
        return this.content(typeUrl, schema, fromBinary(schema, value), path, depth);
      } catch {
        // Malformed, or JSON cannot express it.
        this.#kept.length = noted;
      }
    }
    this.#keep(path, `the content (${typeNameOf(typeUrl)})`);
    const json = binaryForm(any);
    if (unknown !== undefined) this.#add(json, unknown);
    if (this.#writing.hide) {
      this.#hidden = true;
      json[valueKey] = redacted;
    }
    return json;
  }

  content(
    typeUrl: string,
    schema: DescMessage,
    message: Message,
    path: FieldPath | undefined,
    depth: number,
  ): JsonObject {
    const result: JsonObject = { "@type": typeUrl };
    if (schema.typeName === AnySchema.typeName) return { ...result, value: this.any(message as Any, path, depth + 1) };
    const { json, unknown } = this.#fields(schema, this.#shown(schema, message), path, depth + 1);
    if (hasOwnJsonForm(schema) || !isObject(json)) result.value = json;
    else for (const [key, value] of Object.entries(json)) setOwn(result, key, value);
    if (unknown !== undefined) this.#add(result, unknown);
    return result;
  }

  /** A TypedStruct without the secrets of the message that it stands for, if secrets are to be hidden. */
  #shown(schema: DescMessage, message: Message): Message {
    const { hide, registry } = this.#writing;
    if (!hide || !isTypedStruct(schema)) return message;
    const after = redactContent(unpackStruct(schema, message, registry), createUnpack(registry));
    if (after !== message) this.#hidden = true;
    return after;
  }

  /** A message's JSON, and the parts that must still be added for its own fields. */
  #fields(
    schema: DescMessage,
    message: Message,
    path: FieldPath | undefined,
    depth: number,
  ): { readonly json: JsonValue; readonly unknown: Uint8Array | undefined } {
    const { registry, useProtoFieldName, hide } = this.#writing;
    const own = hide ? redactOwn(schema, message) : message;
    if (own !== message) this.#hidden = true;
    if (hasOwnJsonForm(schema)) {
      mustBeKnownInside(schema, own);
      const unknown = unknownBytes(own);
      if (unknown !== undefined) this.#keep(path, numbersOf(own));
      return { json: toJson(schema, own, { registry }), unknown };
    }
    const additions = this.#prepare(schema, own, path, depth);
    const json = toJson(schema, own, { registry, useProtoFieldName });
    if (additions !== undefined) this.#putParts(json, additions);
    return { json, unknown: additions?.unknown };
  }

  /** Empties the `Any`s of a message, and collects the parts that must be added to its JSON. */
  #prepare(schema: DescMessage, message: Message, path: FieldPath | undefined, depth: number): Additions | undefined {
    const parts: JsonPart[] = [];
    let unknown = unknownBytes(message);
    if (unknown !== undefined) this.#keep(path, numbersOf(message));
    for (const field of messageFields(schema)) {
      if (isPlain(field, fieldValue(message, field))) continue;
      for (const { message: child, at } of childrenOf(message, field)) {
        const inner = innerPath(path, field, at);
        if (field.message.typeName === AnySchema.typeName) {
          parts.push({ field, at, put: this.any(child as Any, inner, depth), isAny: true });
          Object.assign(child, emptyAny);
        } else if (hasOwnJsonForm(field.message)) {
          mustBeKnownInside(field.message, child);
          const bytes = unknownBytes(child);
          if (bytes === undefined) continue;
          // Merging appends a part of the field to its content.
          if (at !== undefined) throw new Unsayable(noForm);
          this.#keep(inner, numbersOf(child));
          unknown = Buffer.concat([unknown ?? nothing, fieldBytes(field.number, bytes)]);
        } else {
          const additions = this.#prepare(field.message, child, inner, depth);
          if (additions !== undefined) parts.push({ field, at, put: additions, isAny: false });
        }
      }
    }
    return parts.length === 0 && unknown === undefined ? undefined : { parts, unknown };
  }

  #put(json: JsonValue | undefined, additions: Additions): void {
    this.#putParts(json, additions);
    if (additions.unknown !== undefined && !this.#add(json, additions.unknown)) throw new Unsayable(noForm);
  }

  #putParts(json: JsonValue | undefined, { parts }: Additions): void {
    if (!isObject(json)) return;
    for (const { field, at, put, isAny } of parts) {
      const key = this.#writing.useProtoFieldName ? field.name : field.jsonName;
      const holder = (at === undefined ? json : json[key]) as JsonObject;
      const place = at === undefined ? key : String(at);
      if (isAny) setOwn(holder, place, put as JsonObject);
      else this.#put(holder[place], put as Additions);
    }
  }

  #add(json: JsonValue | undefined, unknown: Uint8Array): boolean {
    if (!isObject(json)) return false;
    if (this.#writing.hide) this.#hidden = true;
    json[unknownKey] = this.#writing.hide ? redacted : base64(unknown);
    return true;
  }

  #keep(path: FieldPath | undefined, what: string): void {
    if (this.#kept.length < maxFindings) this.#kept.push({ steps: stepsOf(path), what });
  }
}

const noForm = "it has unknown fields where JSON has no place for them";
const nothing = new Uint8Array();
/** A placeholder for an `Any` that JSON must not contain yet. */
const emptyAny = { typeUrl: "", value: nothing, $unknown: undefined };

function innerPath(path: FieldPath | undefined, field: MessageField, at: number | string | undefined): FieldPath {
  const own = stepInto(path, field.name);
  return at === undefined ? own : stepInto(own, typeof at === "number" ? at : { key: at });
}

/** A message with its own JSON form has no room for nested unknown fields. */
function mustBeKnownInside(schema: DescMessage, message: Message): void {
  for (const field of messageFields(schema)) {
    if (childrenOf(message, field).some((child) => hasUnknownFields(field.message, child.message)))
      throw new Unsayable(noForm);
  }
}

/** `fields 7, 99`. */
function numbersOf({ $unknown = [] }: Message): string {
  const numbers = [...new Set($unknown.map(({ no }) => no))].sort((a, b) => a - b);
  const listed = numbers.slice(0, 10).join(", ");
  return `${numbers.length === 1 ? "field" : "fields"} ${listed}${numbers.length > 10 ? " …" : ""}`;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
