import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createUnpack, type Unpack } from "../messages/any.js";
import { createRewrite } from "../messages/rewrite.js";
import { schemaOf, v3NameOf } from "../messages/v2-names.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import { v2Registry } from "./v2-registry.js";

const rewrite = createRewrite({ nameOf: (schema) => schema.typeName, change: new Map() });

/**
 * A message in the form of v3 bodies: v2 content of `Any`s becomes v3, and everything without its own order is sorted.
 * The message is not changed, and the result shares the parts that need no change.
 */
export function asV3(schema: DescMessage, message: Message, unpack: Unpack): Message {
  return rewrite(schema, message.$typeName === schema.typeName ? message : readAs(schema, message), unpack);
}

/** Nested messages have v2 names too. The shortest way to v3 is through the bytes, which are the same. */
function readAs(schema: DescMessage, message: Message): Message {
  const v2Schema = v2Registry().getMessage(message.$typeName);
  if (v2Schema === undefined || v3NameOf(message.$typeName) !== schema.typeName) {
    throw new Error(`a ${message.$typeName} is no ${schema.typeName}`);
  }
  return fromBinary(schema, toBinary(v2Schema, message));
}

/**
 * Turns a v2 message, and v2 content of its `Any`s, into v3. A message that is v3 throughout stays the same. Fields
 * keep their numbers and names between the versions. A message of an unknown type is returned unchanged.
 */
export function upgradeMessage(message: Message, registry: Registry = envoyRegistry()): Message {
  const schema = schemaOf(message.$typeName, registry);
  return schema === undefined ? message : asV3(schema, message, createUnpack(registry));
}
