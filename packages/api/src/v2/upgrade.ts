import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createUnpack, schemaOf, type Unpack } from "../any.js";
import { envoyRegistry, type Registry } from "../registry.js";
import { createRewrite } from "../rewrite.js";
import { v3NameOf } from "./names.js";
import { v2Registry } from "./v2-registry.js";

const rewrite = createRewrite({ nameOf: (schema) => schema.typeName, change: new Map() });

/**
 * A message in the form that v3 bodies are made of: what `Any`s inside it hold of v2 is turned into v3, and everything that has no order of its
 * own is put in one. The message is not changed; what needs no change is shared with it.
 */
export function asV3(schema: DescMessage, message: Message, unpack: Unpack): Message {
  return rewrite(schema, message.$typeName === schema.typeName ? message : readAs(schema, message), unpack);
}

/** The names of v2 are in every message inside too: the shortest way to v3 is through the bytes, which are the same. */
function readAs(schema: DescMessage, message: Message): Message {
  const v2Schema = v2Registry().getMessage(message.$typeName);
  if (v2Schema === undefined || v3NameOf(message.$typeName) !== schema.typeName) {
    throw new Error(`a ${message.$typeName} is no ${schema.typeName}`);
  }
  return fromBinary(schema, toBinary(v2Schema, message));
}

/**
 * Turns a message of v2, and what the `Any`s inside it hold of v2, into v3; a message that is v3 throughout stays as it is.
 * Fields keep their numbers and names between the versions. A message of a type that the registry lacks is returned as it is.
 */
export function upgradeMessage(message: Message, registry: Registry = envoyRegistry()): Message {
  const schema = schemaOf(message.$typeName, registry);
  return schema === undefined ? message : asV3(schema, message, createUnpack(registry));
}
