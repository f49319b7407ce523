import type { DescEnum, DescField, DescMessage, Registry } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { areAll, extensionConfig, extensionsIn, slotOf, slotsOf } from "../envoy-versions/extension-types.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { commentOf } from "../registry/comments.js";
import { type JsonSchema, wellKnownSchema } from "./well-known.js";

/** Writes the schemas of messages; each message is defined once, and all others refer to it. */
export interface MessageSchemas {
  /** The schema of a message: a reference to its definition, or what stands for it in JSON. */
  of(message: DescMessage): JsonSchema;
  /** The schema of an `Any` that holds one of these messages, or one of a type that Envoy's API does not have. */
  anyOf(messages: readonly DescMessage[]): JsonSchema;
  /** All definitions that the schemas so far need, by name. */
  definitions(): Readonly<Record<string, JsonSchema>>;
}

/**
 * @param registry where the messages that an `Any` may hold are found.
 * @param resources the schema of the `Any`s that hold resources, in the messages around these.
 */
export function createMessageSchemas(registry: Registry, resources?: JsonSchema): MessageSchemas {
  const defined = new Map<string, JsonSchema>();
  const waiting: (DescMessage | DescEnum)[] = [];
  const known = new Set<string>();

  function refer(desc: DescMessage | DescEnum): JsonSchema {
    if (!known.has(desc.typeName)) {
      known.add(desc.typeName);
      waiting.push(desc);
    }
    return { $ref: `#/definitions/${desc.typeName}` };
  }

  /** An `Any` with one of these messages, or with one of a type that Envoy's API does not have. */
  function anyOf(messages: readonly DescMessage[]): JsonSchema {
    const urls = messages.map(({ typeName }) => typeUrlPrefix + typeName);
    const foreign = { type: "string", pattern: "^(?!type\\.googleapis\\.com/envoy\\.)" };
    return anyWith({ anyOf: [{ enum: urls }, foreign] }, messages);
  }

  function anyWith(type: JsonSchema, messages: readonly DescMessage[]): JsonSchema {
    const allOf = messages.map((message) => ({
      if: { properties: { "@type": { const: typeUrlPrefix + message.typeName } }, required: ["@type"] },
      // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
      then: schemaOf(message),
    }));
    return { type: "object", required: ["@type"], properties: { "@type": type }, allOf };
  }

  const named = (names: readonly string[]) => names.flatMap((name) => registry.getMessage(name) ?? []);

  /** The protos do not say of each `Any` what may stand there: any extension then. */
  function anyIn(field: DescField, around: Around): JsonSchema {
    if (resources !== undefined && field.parent?.typeName.startsWith(discovery)) return resources;
    const isOfResource = around === "resource";
    const slots = slotsOf(isOfResource ? undefined : around, field, isOfResource);
    if (areAll(slots)) return anyOf(named(extensionsIn(slots)));
    if (!defined.has(anyExtension)) {
      defined.set(anyExtension, {});
      defined.set(anyExtension, anyWith({ type: "string" }, named(extensionsIn())));
    }
    return { $ref: `#/definitions/${anyExtension}` };
  }

  /** What may stand in an `Any` depends on the field around its message, where that says so. */
  function schemaOf(message: DescMessage, around?: Around): JsonSchema {
    const special = wellKnownSchema(message.typeName);
    if (special !== undefined) return special;
    const saysSo = around === "resource" || (around !== undefined && areAll(slotOf(around)));
    return saysSo && message.fields.some(isAny) ? messageSchema(message, around) : refer(message);
  }

  function elementSchema(field: DescField, around: Around): JsonSchema {
    if (isAny(field)) return anyIn(field, around);
    if (field.message !== undefined) return schemaOf(field.message, field);
    if (field.enum !== undefined) {
      return field.enum.typeName === "google.protobuf.NullValue"
        ? { enum: [null, "NULL_VALUE", 0] }
        : refer(field.enum);
    }
    return scalarSchema(field.scalar as ScalarType);
  }

  function fieldSchema(field: DescField, around: Around): JsonSchema {
    const value = elementSchema(field, around);
    if (field.fieldKind === "list") return { type: "array", items: value };
    return field.fieldKind === "map" ? { type: "object", additionalProperties: value } : value;
  }

  function messageSchema(message: DescMessage, around?: Around): JsonSchema {
    const properties: Record<string, JsonSchema> = {};
    const others: Record<string, JsonSchema> = {};
    for (const field of message.fields) {
      const schema = fieldSchema(field, around);
      properties[field.name] = documented(schema, `${message.typeName}.${field.name}`, field.deprecated);
      // Both spellings are read. Editors offer the one of Envoy's documentation.
      if (field.jsonName !== field.name) others[`^${field.jsonName}$`] = schema;
    }
    return {
      ...documentation(message.typeName),
      type: "object",
      properties: { "@type": { const: typeUrlPrefix + message.typeName }, ...properties },
      ...(Object.keys(others).length === 0 ? {} : { patternProperties: others }),
      additionalProperties: false,
    };
  }

  return {
    of: (message) => schemaOf(message, message.typeName === extensionConfig ? "resource" : undefined),
    anyOf,
    definitions() {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
        defined.set(next.typeName, next.kind === "enum" ? enumSchema(next) : messageSchema(next));
      return Object.fromEntries([...defined].sort(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

/** The messages of the protocol, in whose `Any`s resources stand. */
const discovery = "envoy.service.discovery.v3.";
/** The name of the definition of an `Any` of which the protos do not say what stands in it. */
const anyExtension = "any-extension";

/** The field that a message stands in, or that the message is a resource of its own. */
type Around = DescField | "resource" | undefined;

const isAny = ({ message }: DescField): boolean => message?.typeName === "google.protobuf.Any";

/** The names in the order of the proto; a number is read as well. */
function enumSchema({ typeName, values }: DescEnum): JsonSchema {
  return { ...documentation(typeName), anyOf: [{ enum: values.map(({ name }) => name) }, { type: "integer" }] };
}

/** A draft-07 reader ignores what stands beside `$ref`. */
function documented(schema: JsonSchema, name: string, deprecated: boolean): JsonSchema {
  const words = { ...documentation(name), ...(deprecated ? { deprecated } : {}) };
  if (Object.keys(words).length === 0) return schema;
  return "$ref" in schema ? { ...words, allOf: [schema] } : { ...words, ...schema };
}

function documentation(name: string): JsonSchema {
  const description = commentOf(name);
  return description === undefined ? {} : { description };
}

/** The proto3 JSON mapping reads numbers also from strings. */
function scalarSchema(scalar: ScalarType): JsonSchema {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: ["number", "string"] };
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.FIXED32:
    case ScalarType.FIXED64:
      return { type: ["integer", "string"], minimum: 0, pattern: "^\\d+$" };
    default:
      return { type: ["integer", "string"], pattern: "^-?\\d+$" };
  }
}
