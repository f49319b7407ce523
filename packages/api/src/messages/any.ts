import { type DescMessage, fromBinary, type JsonObject, type Message, type Registry, toJson } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { type FieldPath, stepInto } from "../errors/field-path.js";
import { messageFromJson } from "../json/forms/canonical-json.js";
import { typeNameOf } from "../names/identifiers.js";
import { delimited, varintTag, WireReader } from "../wire/wire-reader.js";
import { schemaOf } from "./v2-names.js";
import { withV2Names } from "./v2-names-registry.js";

/** A message that holds another one as JSON, for programs that do not know the schema of that. */
export interface TypedStruct extends Message {
  readonly typeUrl: string;
  readonly value?: JsonObject | undefined;
}

const typedStructs: ReadonlySet<string> = new Set(["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"]);

/** Whether messages of a type are TypedStructs. */
export function isTypedStruct({ typeName }: Pick<DescMessage, "typeName">): boolean {
  return typedStructs.has(typeName);
}

/** Whether a TypedStruct stands for another one: nobody reads that. */
export function isOfTypedStruct({ typeUrl }: Pick<TypedStruct, "typeUrl">): boolean {
  return isTypedStruct({ typeName: typeNameOf(typeUrl) });
}

/**
 * The content of an `Any`, read with the v3 schema of its type. For a TypedStruct it is the message that this stands
 * for; the TypedStruct itself if its type is unknown, or its value cannot be read.
 */
export interface UnpackedAny {
  readonly schema: DescMessage;
  readonly message: Message;
  /** The TypedStruct that has the content as JSON in its field `value`. */
  readonly struct?: StructAround | undefined;
  /** Set for a TypedStruct of a known type whose value is not valid. */
  readonly isUnread?: boolean | undefined;
}

/** A TypedStruct around the content of an `Any`. */
export interface StructAround {
  readonly schema: DescMessage;
  readonly message: TypedStruct;
  /** Whether the content has all of its JSON. A message has no place for unknown fields in JSON. */
  readonly isWhole: boolean;
  readonly registry: Registry;
}

/**
 * Reads an `Any`. Undefined if its type is unknown or its bytes are malformed; such an `Any` is passed through
 * unchanged. A v2 type is read as its v3 successor.
 */
export type Unpack = (any: Any) => UnpackedAny | undefined;

/** Reads each `Any` once. Use it for one message, then drop it. */
export function createUnpack(registry: Registry): Unpack {
  const read = new WeakMap<Any, UnpackedAny | undefined>();
  return (any) => {
    if (read.has(any)) return read.get(any);
    const unpacked = unpackBytes(any.typeUrl, any.value, registry);
    read.set(any, unpacked);
    return unpacked;
  };
}

/** The same for the two fields of an `Any`. */
export function unpackBytes(typeUrl: string, value: Uint8Array, registry: Registry): UnpackedAny | undefined {
  const schema = typeUrl === "" ? undefined : schemaOf(typeNameOf(typeUrl), registry);
  if (schema === undefined) return undefined;
  try {
    return unpackStruct(schema, fromBinary(schema, value), registry);
  } catch {
    return undefined;
  }
}

/** The content of a message that was in an `Any`: the message itself, or what stands in it as a TypedStruct. */
export function unpackStruct(outer: DescMessage, message: Message, registry: Registry): UnpackedAny {
  const plain = { schema: outer, message };
  if (!isTypedStruct(outer)) return plain;
  const struct = message as TypedStruct;
  const schema = schemaOf(typeNameOf(struct.typeUrl), registry);
  if (schema === undefined || isTypedStruct(schema)) return plain;
  const read = (ignoreUnknown: boolean): UnpackedAny | undefined => {
    try {
      const content = messageFromJson(schema, struct.value ?? {}, withV2Names(registry), ignoreUnknown);
      return {
        schema,
        message: content,
        struct: { schema: outer, message: struct, isWhole: !ignoreUnknown, registry },
      };
    } catch {
      return undefined;
    }
  };
  return read(false) ?? read(true) ?? { ...plain, isUnread: true };
}

/** The full name of the message that an `Any` configures: also through a TypedStruct, if its bytes are there. */
export function contentTypeOf({ typeUrl, value }: Pick<Any, "typeUrl"> & Partial<Any>): string {
  const typeName = typeNameOf(typeUrl);
  if (value === undefined || !isTypedStruct({ typeName })) return typeName;
  try {
    return typeNameOf(pairIn(value).first);
  } catch {
    return typeName;
  }
}

/** The path to the content of an `Any` at a path. */
export function pathInto({ struct }: UnpackedAny, path: FieldPath | undefined): FieldPath | undefined {
  return struct === undefined ? path : stepInto(path, "value");
}

/** The TypedStruct around a content, with another message instead. Throws an Error if JSON cannot express that. */
export function withContent(struct: StructAround, schema: DescMessage, content: Message): TypedStruct {
  const registry = withV2Names(struct.registry);
  return { ...struct.message, value: toJson(schema, content, { registry, useProtoFieldName: true }) as JsonObject };
}

/** Fields 1 and 2: the type URL and the value of an `Any` or a TypedStruct, or the key and the value of a map entry. */
export function pairIn(bytes: Uint8Array): { readonly first: string; readonly second: Uint8Array | undefined } {
  const reader = new WireReader(bytes);
  let first = "";
  let second: Uint8Array | undefined;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) first = reader.string();
    else if (tag === varintTag(1)) first = String(reader.int64());
    else if (tag === delimited(2)) second = reader.part();
    else reader.skip(tag);
  }
  return { first, second };
}
