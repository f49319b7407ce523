import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { perObject } from "../names/per-object.js";
import { isObject } from "../text/source-document.js";
import { giveUp } from "./doubt.js";
import { scalarOfField } from "./scalars.js";
import { spanOf } from "./well-known.js";

type Read = (json: unknown) => unknown;

/**
 * Shows a message in JSON with the properties of the decoded one, so that the same rules judge both. A property is read
 * on request. Reading it gives up at a value that the writer of its field would not take.
 */
export const viewOf = perObject(createView);

function createView(schema: DescMessage): Read {
  const [first] = schema.fields;
  if (isWrapperDesc(schema) && first !== undefined) return scalarReader(first);
  if (schema.typeName === "google.protobuf.Duration") return spanOf;
  if (schema.typeName === "google.protobuf.Any") return anyOf;
  // No rule reads the others.
  if (schema.typeName.startsWith("google.protobuf.")) return (json) => json;
  class View {
    readonly [source]: ViewedFields;
    constructor(json: ViewedFields) {
      this[source] = json;
    }
  }
  const property = (name: string, get: (this: View) => unknown) => Object.defineProperty(View.prototype, name, { get });
  for (const field of schema.fields) {
    if (field.oneof !== undefined) continue;
    const read = fieldReader(field);
    const get = getterOf(field);
    const unset = unsetValue(field);
    property(field.localName, function () {
      const json = get(this[source]);
      return json === undefined ? unset : read(json);
    });
  }
  for (const oneof of schema.oneofs) {
    const members = oneof.fields.map((field) => ({
      name: field.localName,
      get: getterOf(field),
      read: fieldReader(field),
    }));
    property(oneof.localName, function () {
      for (const { name, get, read } of members) {
        const json = get(this[source]);
        if (json !== undefined) return { case: name, value: read(json) };
      }
      return unsetOneof;
    });
  }
  return (json) => new View(objectOf(json));
}

const source = Symbol("json");
const unsetOneof = { case: undefined };
const emptyList: readonly unknown[] = [];

interface ViewedFields {
  readonly [key: string]: unknown;
}

/** The number of field values that were read. */
let reads = 0;

/** Whether a function reads a value of a view: one that finds all its fields unset does not. */
export function readsValues(read: () => void): boolean {
  const before = reads;
  read();
  return reads !== before;
}

/** Gets the value under either name of a field. The writer gives up at null, and where both are set. */
function getterOf({ name, jsonName }: DescField): (json: ViewedFields) => unknown {
  return (json) => {
    let value = json[name];
    if (value === undefined && name !== jsonName) value = json[jsonName];
    if (value === undefined) return undefined;
    reads += 1;
    return value ?? undefined;
  };
}

function fieldReader(field: DescField): Read {
  const one = field.message === undefined ? scalarReader(field) : embeddedReader(field, field.message);
  if (field.fieldKind === "list") return (json) => (Array.isArray(json) ? json.map((item) => one(item)) : giveUp());
  if (field.fieldKind !== "map") return one;
  return (json) => Object.fromEntries(Object.entries(objectOf(json)).map(([key, item]) => [key, one(item)]));
}

function scalarReader(field: DescField): Read {
  const { read, checked } = scalarOfField(field) ?? { read: giveUp };
  return checked === undefined ? read : (json) => checked(read(json));
}

/** The view is made when it is needed: a message may contain its own type. */
function embeddedReader(field: DescField, message: DescMessage): Read {
  let view: Read | undefined;
  const read: Read = (json) => {
    view ??= viewOf(message);
    return view(json);
  };
  // A wrapper is a bare value only in its own field.
  const isBare = field.fieldKind === "message" && field.oneof === undefined;
  return isBare || !isWrapperDesc(message) ? read : (json) => ({ value: read(json) });
}

function unsetValue(field: DescField): unknown {
  if (field.fieldKind === "list") return emptyList;
  if (field.fieldKind === "map") return {};
  if (field.message !== undefined || field.presence === FeatureSet_FieldPresence.EXPLICIT) return undefined;
  const { zero, checked } = scalarOfField(field) ?? {};
  return checked === undefined ? zero : checked(zero);
}

function anyOf(json: unknown): { readonly typeUrl: string } {
  const { "@type": typeUrl } = objectOf(json);
  return typeof typeUrl === "string" ? { typeUrl } : giveUp();
}

function objectOf(json: unknown): ViewedFields {
  return isObject(json) ? json : giveUp();
}
