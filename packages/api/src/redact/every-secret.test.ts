import assert from "node:assert/strict";
import { it } from "node:test";
import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  getOption,
  hasOption,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { createUnpack } from "../messages/any.js";
import { envoyRegistry } from "../registry/registry.js";
import { knownBytes, redactMessage } from "./redact.js";

const secret = "S3CR3T-7f3a";
const registry = envoyRegistry();

/** A value of a field with the secret in it, for any kind of field. */
function valueWith(field: DescField): unknown {
  const one = field.message === undefined ? scalar(field) : messageWith(field.message);
  if (field.fieldKind === "list") return [one];
  return field.fieldKind === "map" ? { key: one } : one;
}

function scalar({ scalar: type }: DescField): unknown {
  return type === ScalarType.BYTES ? new TextEncoder().encode(secret) : secret;
}

function messageWith(schema: DescMessage): unknown {
  const { typeName } = schema;
  if (typeName.endsWith(".DataSource")) {
    return create(schema, { specifier: { case: "inlineString", value: secret } } as Record<string, unknown>);
  }
  if (typeName === "google.protobuf.Struct") return { inner: [secret] };
  if (typeName === "google.protobuf.Any") return anyOf(registry.getMessage("google.protobuf.StringValue"), secret);
  const texts = schema.fields.filter(({ fieldKind, scalar }) => fieldKind === "scalar" && scalar === ScalarType.STRING);
  if (texts.length > 0) return create(schema, Object.fromEntries(texts.map(({ localName }) => [localName, secret])));
  return assert.fail(`a secret in a ${typeName}: say how`);
}

function anyOf(schema: DescMessage | undefined, value: unknown): Message {
  if (schema === undefined) return assert.fail("no such message");
  const message = create(schema, { value } as Record<string, unknown>);
  return create(AnySchema, { typeUrl: `type.googleapis.com/${schema.typeName}`, value: toBinary(schema, message) });
}

it("redaction hides every field of Envoy's API that its protos call sensitive, wherever it is", () => {
  const sensitive = registry.getExtension("udpa.annotations.sensitive") ?? assert.fail("no annotation");
  let found = 0;
  for (const type of registry) {
    if (type.kind !== "message") continue;
    for (const field of type.fields) {
      if (!hasOption(field, sensitive) || getOption(field, sensitive) !== true) continue;
      found += 1;
      mustBeHidden(type, field);
    }
  }
  assert.ok(found >= 15, `${found} fields`);
});

function mustBeHidden(schema: DescMessage, field: DescField): void {
  const what = `${schema.typeName}.${field.name}`;
  const { oneof, localName } = field;
  const value = valueWith(field);
  const fields = oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } };
  const typeUrl = `type.googleapis.com/${schema.typeName}`;
  const inner = create(AnySchema, { typeUrl, value: toBinary(schema, create(schema, fields)) });
  const entry = registry.getMessage("envoy.config.core.v3.TypedExtensionConfig") ?? assert.fail("no message");
  const outer = create(entry, { name: "outer", typedConfig: inner } as Record<string, unknown>);
  const before = textOf(toBinary(entry, outer));
  assert.ok(before.includes(secret), `${what} was to hold the secret`);
  const bytes = knownBytes(entry, redactMessage(entry, outer, createUnpack(registry)));
  assert.ok(!textOf(bytes).includes(secret), what);
  // The result is still a message, and the argument is unchanged.
  assert.equal((fromBinary(entry, bytes) as Message & { name: string }).name, "outer");
  assert.equal(textOf(toBinary(entry, outer)), before, what);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
