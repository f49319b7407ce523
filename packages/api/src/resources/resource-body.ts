import { create, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { schemaOf } from "../messages/v2-names.js";
import { type TypeUrl, typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import type { Registry } from "../registry/registry.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { upgradeMessage } from "../v2/upgrade.js";

/** The v3 schema of a type's messages. Undefined for an unknown type, and for one whose resources may be anything. */
export function schemaOfType(type: ResourceType, registry: Registry): DescMessage | undefined {
  if (type.anyContent) return undefined;
  return registry.getMessage(type.typeUrl.slice(typeUrlPrefix.length)) ?? type.schema;
}

/**
 * Reads a body of v2 or v3 as messages of v3, nested messages included. If a type's resources may be anything, an
 * unknown message is an `Any`. Throws an error if the bytes are no such message.
 */
export function readBody(type: ResourceType, typeUrl: TypeUrl, value: Uint8Array, registry: Registry): Message {
  if (type.anyContent) {
    const any = create(AnySchema, { typeUrl, value });
    const known = schemaOf(typeNameOf(typeUrl), registry);
    if (known === undefined) return any;
    const content = fromBinary(known, value);
    return known.typeName === typeNameOf(typeUrl) ? content : upgradeMessage(content, registry);
  }
  const schema = schemaOfType(type, registry);
  if (schema === undefined) throw new Error(`messages of ${type.typeUrl} are not known`);
  // Fields have the same numbers in v2 and v3; the contents of `Any`s inside have other type URLs.
  const message = fromBinary(schema, value);
  return typeUrl === type.typeUrl ? message : upgradeMessage(message, registry);
}
