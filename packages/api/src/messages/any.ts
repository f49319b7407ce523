import { type DescMessage, fromBinary, type Message, type Registry } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { v3NameOf } from "./v2-names.js";

/** The content of an `Any`, read with the v3 schema of its type. */
export interface UnpackedAny {
  readonly schema: DescMessage;
  readonly message: Message;
}

/**
 * Reads an `Any`. Undefined if its type is unknown or its bytes are malformed; such an `Any` is passed through
 * unchanged. A v2 type is read as its v3 successor.
 */
export type Unpack = (any: Any) => UnpackedAny | undefined;

/** The full name of the message in an `Any`: the part of its type URL after the last slash. */
export function typeNameOf(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}

/** The schema for a type name; for a v2 name the schema of its v3 successor. */
export function schemaOf(typeName: string, registry: Registry): DescMessage | undefined {
  const v3 = typeName.includes(".v3.") ? undefined : v3NameOf(typeName);
  return registry.getMessage(v3 ?? typeName);
}

/** Reads each `Any` once. Use it for one message, then drop it. */
export function createUnpack(registry: Registry): Unpack {
  const read = new Map<Any, UnpackedAny | undefined>();
  return (any) => {
    if (read.has(any)) return read.get(any);
    const unpacked = unpackAny(any, registry);
    read.set(any, unpacked);
    return unpacked;
  };
}

function unpackAny(any: Any, registry: Registry): UnpackedAny | undefined {
  const schema = any.typeUrl === "" ? undefined : schemaOf(typeNameOf(any.typeUrl), registry);
  if (schema === undefined) return undefined;
  try {
    return { schema, message: fromBinary(schema, any.value) };
  } catch {
    return undefined;
  }
}
