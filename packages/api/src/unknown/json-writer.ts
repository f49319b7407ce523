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
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { typeNameOf } from "../any.js";
import { type FieldPath, type FieldStep, stepInto, stepsOf } from "../field-path.js";
import { fieldValue } from "../message-plan.js";
import { redactOwn } from "../redact/redact.js";
import { redacted } from "../redact/secret-text.js";
import { setOwn } from "../source-document.js";
import { isObject, standInUrl, typeUrlKey, unknownKey, valueKey } from "./keys.js";
import {
  childrenOf,
  hasOwnJsonForm,
  hasUnknownFields,
  isPlain,
  type MessageField,
  messageFields,
  unknownBytes,
} from "./unknown-fields.js";

/** Something of a message for which JSON has no form of its own: it is there in base64. */
export interface KeptAsBytes {
  /** Of the message that has the fields, or of the `Any`. */
  readonly steps: readonly FieldStep[];
  /** What it is, in words: `field 99`, `the content (own.Filter)`. */
  readonly what: string;
}

/** How JSON is written. */
export interface JsonWriting {
  /** Where the content of `Any`s is looked up. */
  readonly registry: Registry;
  readonly useProtoFieldName: boolean;
  /** Without secrets, and without what is not known, since it may be one. */
  readonly hide?: boolean | undefined;
}

/** What was written. */
export interface WrittenJson {
  readonly json: JsonValue;
  readonly kept: readonly KeptAsBytes[];
  /** Whether something was hidden. */
  readonly hidden: boolean;
}

/** `Any`s inside `Any`s are looked into to this depth. */
const depthLimit = 32;

/** Thrown where a message cannot be said in JSON although it is well. */
class Unsayable extends Error {}

/**
 * A message in proto3's JSON mapping, with what that has no form for as `keys.ts` says. Throws an Error where it must be an `Any` to be said, and for what JSON
 * cannot say, such as a number without end in a `Struct`.
 */
export function messageJson(schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  const writer = new JsonWriter(writing);
  return writer.written(
    schema.typeName === AnySchema.typeName ? writer.any(message as Any) : writer.root(schema, clone(schema, message)),
  );
}

/** The same of a message as the content of an `Any` with this type URL. Throws an Error where JSON cannot say it. */
export function typedJson(typeUrl: string, schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  return contentJson(typeUrl, schema, clone(schema, message), writing);
}

/** The same of a message that nobody else has: it is changed on the way. */
export function contentJson(typeUrl: string, schema: DescMessage, message: Message, writing: JsonWriting): WrittenJson {
  const writer = new JsonWriter(writing);
  return writer.written(writer.content(typeUrl, schema, message, undefined, 0));
}

/** An `Any` that JSON cannot say. */
export function binaryForm({ typeUrl, value }: Pick<Any, "typeUrl" | "value">): JsonObject {
  return { "@type": standInUrl, [typeUrlKey]: typeUrl, [valueKey]: base64(value) };
}

/** What must be put into the JSON of a message. */
interface Additions {
  readonly unknown: Uint8Array | undefined;
  readonly parts: readonly Part[];
}

interface Part {
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
    const schema = depth < depthLimit ? this.#writing.registry.getMessage(typeNameOf(typeUrl)) : undefined;
    const noted = this.#kept.length;
    if (schema !== undefined && unknown === undefined) {
      try {
        return this.content(typeUrl, schema, fromBinary(schema, value), path, depth);
      } catch {
        // Malformed, or nothing that JSON can say.
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
    const { json, unknown } = this.#fields(schema, message, path, depth + 1);
    if (hasOwnJsonForm(schema) || !isObject(json)) result.value = json;
    else for (const [key, value] of Object.entries(json)) setOwn(result, key, value);
    if (unknown !== undefined) this.#add(result, unknown);
    return result;
  }

  /** A message's JSON, and what is still to be said of its own fields. */
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

  /** Empties the `Any`s of a message, and says what must be added to its JSON. */
  #prepare(schema: DescMessage, message: Message, path: FieldPath | undefined, depth: number): Additions | undefined {
    const parts: Part[] = [];
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
          // Merged into the message, a part of the field adds to what the field has.
          if (at !== undefined) throw new Unsayable(noForm);
          this.#keep(inner, numbersOf(child));
          unknown = Buffer.concat([unknown ?? nothing, fieldBytes(field, bytes)]);
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
    if (this.#kept.length < mostKept) this.#kept.push({ steps: stepsOf(path), what });
  }
}

/** How many places of one message are worth naming. */
const mostKept = 100;
const noForm = "it has unknown fields where JSON has no place for them";
const nothing = new Uint8Array();
/** Of an `Any` that JSON is to have nothing of yet. */
const emptyAny = { typeUrl: "", value: nothing, $unknown: undefined };

function innerPath(path: FieldPath | undefined, field: MessageField, at: number | string | undefined): FieldPath {
  const own = stepInto(path, field.name);
  return at === undefined ? own : stepInto(own, typeof at === "number" ? at : { key: at });
}

/** What has a form of its own in JSON has no place for fields of the messages in it. */
function mustBeKnownInside(schema: DescMessage, message: Message): void {
  for (const field of messageFields(schema)) {
    if (childrenOf(message, field).some((child) => hasUnknownFields(field.message, child.message)))
      throw new Unsayable(noForm);
  }
}

function fieldBytes({ number }: MessageField, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish();
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
