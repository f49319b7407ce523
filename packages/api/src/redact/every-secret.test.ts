import assert from "node:assert/strict";
import { it } from "node:test";
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { createUnpack } from "../messages/any.js";
import { envoyRegistry } from "../registry/registry.js";
import { messageWithSecret, type SensitiveField, sensitiveFields } from "../testing/sensitive-fields.js";
import { knownBytes, redactMessage } from "./redact.js";

const secret = "S3CR3T-7f3a";
const registry = envoyRegistry();

it("redaction hides every field of Envoy's API that its protos call sensitive, wherever it is", () => {
  const found = sensitiveFields();
  for (const field of found) mustBeHidden(field);
  assert.ok(found.length >= 15, `${found.length} fields`);
});

function mustBeHidden(sensitive: SensitiveField): void {
  const { schema, field } = sensitive;
  const what = `${schema.typeName}.${field.name}`;
  const typeUrl = `type.googleapis.com/${schema.typeName}`;
  const inner = create(AnySchema, { typeUrl, value: toBinary(schema, messageWithSecret(sensitive, secret)) });
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
