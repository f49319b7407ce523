import assert from "node:assert/strict";
import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  type JsonObject,
  type Message,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { envoyRegistry } from "../registry/registry.js";
import { configurableExtensions } from "./corpus/extensions.js";
import { Messages } from "./corpus/messages.js";
import { createRuleBook } from "./corpus/rules.js";

/** A field that a proto calls sensitive. */
export interface SensitiveField {
  readonly schema: DescMessage;
  readonly field: DescField;
}

/** Every field of Envoy's API that its protos call sensitive. */
export function sensitiveFields(): readonly SensitiveField[] {
  const registry = envoyRegistry();
  const sensitive = registry.getExtension("udpa.annotations.sensitive") ?? assert.fail("no annotation");
  return [...registry].flatMap((schema) =>
    schema.kind !== "message"
      ? []
      : schema.fields
          .filter((field) => hasOption(field, sensitive) && getOption(field, sensitive) === true)
          .map((field) => ({ schema, field })),
  );
}

/** A message with a secret in one of its sensitive fields, and nothing else. */
export function messageWithSecret({ schema, field }: SensitiveField, secret: string): Message {
  const { oneof, localName } = field;
  const value = valueWith(field, secret);
  return create(
    schema,
    oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } },
  );
}

/** A value of a field with the secret in it, for any kind of field. */
function valueWith(field: DescField, secret: string): unknown {
  const one = field.message === undefined ? scalar(field, secret) : contentWith(field.message, secret);
  if (field.fieldKind === "list") return [one];
  return field.fieldKind === "map" ? { key: one } : one;
}

function scalar({ scalar: type }: DescField, secret: string): unknown {
  return type === ScalarType.BYTES ? new TextEncoder().encode(secret) : secret;
}

function contentWith(schema: DescMessage, secret: string): unknown {
  const { typeName } = schema;
  if (typeName.endsWith(".DataSource")) {
    return create(schema, { specifier: { case: "inlineString", value: secret } } as Record<string, unknown>);
  }
  if (typeName === "google.protobuf.Struct") return { inner: [secret] };
  if (typeName === "google.protobuf.Any") {
    const text = envoyRegistry().getMessage("google.protobuf.StringValue") ?? assert.fail("no such message");
    const value = toBinary(text, create(text, { value: secret } as Record<string, unknown>));
    return create(AnySchema, { typeUrl: `type.googleapis.com/${text.typeName}`, value });
  }
  const texts = schema.fields.filter(({ fieldKind, scalar }) => fieldKind === "scalar" && scalar === ScalarType.STRING);
  if (texts.length > 0) return create(schema, Object.fromEntries(texts.map(({ localName }) => [localName, secret])));
  return assert.fail(`a secret in a ${typeName}: say how`);
}

/**
 * A valid cluster in JSON with a secret in each sensitive field, as a message and as a TypedStruct. Without `except`,
 * by full names: fields whose contents must be more than any text.
 */
export function clusterWithSecrets(name: string, secret: string, except: readonly string[]): JsonObject {
  const registry = envoyRegistry();
  const messages = new Messages(registry, configurableExtensions(), createRuleBook(registry));
  const metadata: JsonObject = {};
  for (const one of sensitiveFields()) {
    const { typeName } = one.schema;
    const what = `${typeName}.${one.field.name}`;
    if (except.includes(what)) continue;
    const own = toJson(one.schema, messageWithSecret(one, secret), { registry, useProtoFieldName: true }) as JsonObject;
    // Whose smallest one has files of PEM, and a certificate that stands in the way of another form.
    const value = typeName.endsWith(".TlsCertificate") ? {} : messages.minimal(one.schema, undefined);
    for (const { name } of one.field.oneof?.fields ?? []) delete value[name];
    Object.assign(value, own);
    const typeUrl = `type.googleapis.com/${typeName}`;
    metadata[what] = { "@type": typeUrl, ...value };
    metadata[`${what} as a struct`] = {
      "@type": "type.googleapis.com/xds.type.v3.TypedStruct",
      type_url: typeUrl,
      value,
    };
  }
  return {
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    metadata: { typed_filter_metadata: metadata },
  };
}
