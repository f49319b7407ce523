import {
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  mergeFromBinary,
  type Registry,
  toBinary,
} from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { type FieldPath, stepInto, stepsOf } from "../errors/field-path.js";
import type { FieldProblem } from "../errors/field-problem.js";
import { hasOwnJsonForm } from "../json/forms/own-form.js";
import type { MessageField } from "../messages/walk-plan.js";
import { typeNameOf } from "../names/identifiers.js";
import { redacted } from "../redact/secret-text.js";
import { isObject, keepWritten, setOwn } from "../text/source-document.js";
import { isBinaryForm, typeUrlKey, unknownKey, valueKey } from "./keys.js";
import { childrenOf } from "./unknown-fields.js";

/** JSON without its base64 parts. */
export interface TakenUnknown {
  /** The form that protobuf's readers accept. */
  readonly json: JsonValue;
  readonly problems: readonly FieldProblem[];
  /** Puts the extracted parts into the message that was read from the JSON. */
  readonly restore: (message: Message) => readonly FieldProblem[];
}

/** Extracts the base64 parts from a message's JSON (see `keys.ts`); undefined if there are none. */
export function takeUnknown(schema: DescMessage, json: JsonValue, registry: Registry): TakenUnknown | undefined {
  const reader = new JsonReader(registry);
  const clean = reader.clean(schema, json, undefined);
  if (clean === json) return undefined;
  const { problems } = reader;
  return {
    json: clean,
    problems: [...problems],
    restore(message) {
      problems.length = 0;
      reader.restore(schema, json, message, undefined);
      return problems;
    },
  };
}

/** The `Any` that a binary form stands for, or its problem. `"@type"` is its type if it has no other. */
export function readBinaryForm(json: JsonObject): Pick<Any, "typeUrl" | "value"> | FieldProblem {
  const { "@type": type, [typeUrlKey]: typeUrl = type, [valueKey]: text = "" } = json;
  if (typeof typeUrl !== "string") {
    const message = "expected the type URL of what is in it";
    return { code: "XDSKIT_FIELD_INVALID", steps: [typeUrlKey], message };
  }
  const value = bytesOf(text, valueKey);
  return value instanceof Uint8Array ? { typeUrl, value } : value;
}

class JsonReader {
  readonly problems: FieldProblem[] = [];
  readonly #registry: Registry;
  /** The objects and lists in which something was found, at any depth. */
  readonly #changed = new WeakSet<object>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  clean(schema: DescMessage, json: JsonValue, path: FieldPath | undefined): JsonValue {
    if (!isObject(json)) return json;
    if (schema.typeName === AnySchema.typeName) return this.#cleanAny(json, path);
    return hasOwnJsonForm(schema) ? json : this.#cleanFields(schema, json, path);
  }

  restore(schema: DescMessage, json: JsonValue, message: Message, path: FieldPath | undefined): void {
    if (!isObject(json) || !this.#changed.has(json)) return;
    if (schema.typeName === AnySchema.typeName) this.#restoreAny(json, message as Any, path);
    else this.#restoreFields(schema, json, message, path);
  }

  #cleanAny(json: JsonObject, path: FieldPath | undefined): JsonValue {
    if (isBinaryForm(json)) {
      this.#changed.add(json);
      const read = readBinaryForm(json);
      if ("code" in read) this.#problem(read, path);
      this.#check(json[unknownKey], path);
      return {};
    }
    const schema = this.#contentSchema(json);
    if (schema === undefined) return json;
    if (!hasOwnJsonForm(schema)) return this.#cleanFields(schema, json, path);
    const value = this.clean(schema, json.value ?? null, stepInto(path, "value"));
    if (value === (json.value ?? null) && !(unknownKey in json)) return json;
    this.#changed.add(json);
    this.#check(json[unknownKey], path);
    const { [unknownKey]: _, ...others } = json;
    return "value" in json ? { ...others, value } : others;
  }

  #restoreAny(json: JsonObject, any: Any, path: FieldPath | undefined): void {
    if (isBinaryForm(json)) {
      const read = readBinaryForm(json);
      if (!("code" in read)) Object.assign(any, read);
      this.#merge(AnySchema, any, json[unknownKey], path);
      return;
    }
    const schema = this.#contentSchema(json);
    if (schema === undefined) return;
    const content = fromBinary(schema, any.value);
    if (hasOwnJsonForm(schema)) {
      this.restore(schema, json.value ?? null, content, stepInto(path, "value"));
      this.#merge(schema, content, json[unknownKey], path);
    } else this.#restoreFields(schema, json, content, path);
    any.value = toBinary(schema, content);
  }

  #contentSchema({ "@type": url }: JsonObject): DescMessage | undefined {
    return typeof url === "string" ? this.#registry.getMessage(typeNameOf(url)) : undefined;
  }

  #cleanFields(schema: DescMessage, json: JsonObject, path: FieldPath | undefined): JsonObject {
    let isChanged = false;
    const result: JsonObject = {};
    keepWritten(json, result);
    for (const [key, value] of Object.entries(json)) {
      if (key === unknownKey) {
        this.#check(value, path);
        isChanged = true;
        continue;
      }
      const field = messageFieldNamed(schema, key);
      const clean = field === undefined ? value : this.#cleanField(field, value, stepInto(path, field.name));
      isChanged ||= clean !== value;
      setOwn(result, key, clean);
    }
    if (!isChanged) return json;
    this.#changed.add(json);
    return result;
  }

  #cleanField(field: MessageField, json: JsonValue, path: FieldPath): JsonValue {
    const { message } = field;
    if (field.fieldKind === "list" && Array.isArray(json)) {
      // Nested lists are read as one.
      const items = json.map((item, index) => this.#cleanField(field, item, stepInto(path, index)));
      keepWritten(json, items);
      return items.every((item, index) => item === json[index]) ? json : items;
    }
    if (field.fieldKind !== "map" || !isObject(json)) return this.clean(message, json, path);
    const result: JsonObject = {};
    keepWritten(json, result);
    for (const [key, item] of Object.entries(json))
      setOwn(result, key, this.clean(message, item, stepInto(path, { key })));
    return Object.entries(json).every(([key, item]) => result[key] === item) ? json : result;
  }

  #restoreFields(schema: DescMessage, json: JsonObject, message: Message, path: FieldPath | undefined): void {
    for (const [key, value] of Object.entries(json)) {
      const field = key === unknownKey ? undefined : messageFieldNamed(schema, key);
      if (field === undefined) continue;
      const inner = stepInto(path, field.name);
      const items = field.fieldKind === "list" ? flatList(value) : value;
      for (const { message: child, at } of childrenOf(message, field)) {
        if (at === undefined) this.restore(field.message, value, child, inner);
        else {
          const item = (items as JsonObject)[at];
          const step = typeof at === "number" ? at : { key: at };
          if (item !== undefined) this.restore(field.message, item, child, stepInto(inner, step));
        }
      }
    }
    this.#merge(schema, message, json[unknownKey], path);
  }

  #merge(schema: DescMessage, message: Message, text: JsonValue | undefined, path: FieldPath | undefined): void {
    if (text === undefined) return;
    const bytes = bytesOf(text, unknownKey);
    try {
      if (bytes instanceof Uint8Array) mergeFromBinary(schema, message, bytes);
    } catch {
      this.#problem({ code: "XDSKIT_FIELD_INVALID", steps: [unknownKey], message: notFields }, path);
    }
  }

  #check(text: JsonValue | undefined, path: FieldPath | undefined): void {
    const bytes = text === undefined ? undefined : bytesOf(text, unknownKey);
    if (bytes !== undefined && "code" in bytes) this.#problem(bytes, path);
  }

  #problem(problem: FieldProblem, path: FieldPath | undefined): void {
    this.problems.push({ ...problem, steps: [...stepsOf(path), ...problem.steps] });
  }
}

const notFields = "expected serialized protobuf fields in base64";

/** The items of a list. A single item needs no list, and nested lists are flattened. */
function flatList(json: JsonValue): JsonValue[] {
  return Array.isArray(json) ? json.flatMap(flatList) : [json];
}

function messageFieldNamed(schema: DescMessage, key: string): MessageField | undefined {
  const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
  return field?.message === undefined ? undefined : (field as MessageField);
}

function bytesOf(text: JsonValue, key: string): Uint8Array | FieldProblem {
  if (text === redacted) {
    const message = `is "${redacted}", which stands in the place of what was left out, since it may be a secret`;
    return { code: "XDSKIT_SECRET_LEFT_OUT", steps: [key], message };
  }
  if (typeof text === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0)
    return Buffer.from(text, "base64");
  const message = key === unknownKey ? notFields : "expected the bytes in base64";
  return { code: "XDSKIT_FIELD_INVALID", steps: [key], message };
}
