import { type DescField, type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { fieldValue, isJsonStruct, type MessageField } from "../messages/walk-plan.js";
import { perObject } from "../names/per-object.js";
import { varintLength } from "../wire/varint.js";
import { WireWriter } from "../wire/wire-writer.js";

/**
 * The fields of a message that contain messages: one, a list, or a map with them as values. A `Struct` is plain JSON in
 * memory.
 */
export const messageFields: (schema: DescMessage) => readonly MessageField[] = perObject((schema) =>
  schema.fields.filter(isMessageField),
);

function isMessageField(field: DescField): field is MessageField {
  return field.message !== undefined && !isJsonStruct(field as MessageField);
}

/** A message in a field of another, and its position in a list or a map. */
export interface Child {
  readonly message: Message;
  readonly at: number | string | undefined;
}

/** The messages in a field. A bare wrapper is not one of them. */
export function childrenOf(message: Message, field: MessageField): readonly Child[] {
  const value = fieldValue(message, field);
  if (value === undefined || value === null) return none;
  if (field.fieldKind === "list") return (value as readonly Message[]).map((message, at) => ({ message, at }));
  if (field.fieldKind === "map")
    return Object.entries(value as { readonly [key: string]: Message }).map(([at, message]) => ({ message, at }));
  return isMessage(value) ? [{ message: value, at: undefined }] : none;
}

const none: readonly Child[] = [];

/**
 * Whether a field's value, which may be missing, contains neither an `Any` nor an unknown field. This is the common
 * case, so it allocates nothing.
 */
export function isPlain(field: MessageField, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const { message } = field;
  if (field.fieldKind === "list") {
    for (const item of value as readonly Message[]) if (!isPlainMessage(message, item)) return false;
    return true;
  }
  if (field.fieldKind === "map") {
    const map = value as { readonly [key: string]: Message };
    for (const key in map) if (!isPlainMessage(message, map[key] as Message)) return false;
    return true;
  }
  return !isMessage(value) || isPlainMessage(message, value);
}

function isPlainMessage(schema: DescMessage, message: Message): boolean {
  if (message.$unknown !== undefined || schema.typeName === AnySchema.typeName) return false;
  for (const field of messageFields(schema)) if (!isPlain(field, fieldValue(message, field))) return false;
  return true;
}

/** The serialized unknown fields of a message itself; undefined if there are none. */
export function unknownBytes(message: Message): Uint8Array | undefined {
  const { $unknown = [] } = message;
  if ($unknown.length === 0) return undefined;
  const writer = new WireWriter($unknown.reduce((sum, { no, data }) => sum + varintLength(no * 8) + data.length, 0));
  for (const { no, wireType, data } of $unknown) {
    writer.varint(no * 8 + wireType);
    writer.raw(data);
  }
  return writer.bytes;
}

/** Whether a message or a nested one has unknown fields. The content of an `Any` does not count. */
export function hasUnknownFields(schema: DescMessage, message: Message): boolean {
  if ((message.$unknown?.length ?? 0) > 0) return true;
  return messageFields(schema).some((field) =>
    childrenOf(message, field).some((child) => hasUnknownFields(field.message, child.message)),
  );
}
