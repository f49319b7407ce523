import { type DescField, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import type { Unpack, UnpackedAny } from "./any.js";
import { createPaths, fieldValue, isJsonStruct, type MessageField } from "./message-paths.js";

/** How messages are to be written. */
export interface Rewriting {
  /** The full name under which an `Any` is to hold a message. */
  readonly nameOf: (schema: DescMessage) => string;
  /** By full name: messages in which something is to be changed. A function returns its argument, or a changed copy. */
  readonly change: ReadonlyMap<string, (message: Message) => Message>;
}

/** Returns the message itself where nothing is to be done; otherwise a copy of it, down to what differs. Never changes its argument. */
export type Rewrite = (schema: DescMessage, message: Message, unpack: Unpack) => Message;

/** `Any`s inside `Any`s are followed to this depth, and are passed through as they are below it. */
const depthLimit = 32;

/**
 * Brings messages into the one form that their bytes are made of: map entries sorted by key, in a `Struct` and inside every known `Any` too,
 * and what `rewriting` says.
 */
export function createRewrite(rewriting: Rewriting): Rewrite {
  const pathsOf = createPaths(
    (schema) =>
      schema.typeName === "google.protobuf.Any" ||
      rewriting.change.has(schema.typeName) ||
      schema.fields.some((field) => field.fieldKind === "map"),
  );

  function rewriteMessage(schema: DescMessage, message: Message, unpack: Unpack, depth: number): Message {
    if (schema.typeName === "google.protobuf.Any") return rewriteAny(message as Any, unpack, depth);
    let result = message;
    const set = (field: DescField, value: unknown): void => {
      if (result === message) result = Object.assign(Object.create(Object.getPrototypeOf(message)), message);
      const target = result as Message & { [name: string]: unknown };
      if (field.oneof === undefined) target[field.localName] = value;
      else target[field.oneof.localName] = { case: field.localName, value };
    };
    for (const field of pathsOf(schema)) {
      const before = fieldValue(message, field);
      if (before === undefined) continue;
      const after = rewriteField(field, before, unpack, depth);
      if (after !== before) set(field, after);
    }
    for (const field of mapsOf(schema)) {
      const before = fieldValue(result, field) as Record<string, unknown>;
      const after = sortedRecord(before);
      if (after !== before) set(field, after);
    }
    const change = rewriting.change.get(schema.typeName);
    return change === undefined ? result : change(result);
  }

  function rewriteField(field: MessageField, value: unknown, unpack: Unpack, depth: number): unknown {
    const one = (item: unknown): unknown =>
      isJsonStruct(field) ? sortedJson(item) : rewriteMessage(field.message, item as Message, unpack, depth);
    if (field.fieldKind === "list") return mapList(value as readonly unknown[], one);
    if (field.fieldKind === "map") return mapRecord(value as Record<string, unknown>, one);
    return one(value);
  }

  function rewriteAny(any: Any, unpack: Unpack, depth: number): Any {
    const content = depth < depthLimit ? unpack(any) : undefined;
    if (content === undefined) return any;
    const name = rewriting.nameOf(content.schema);
    const typeUrl = `${any.typeUrl.slice(0, any.typeUrl.lastIndexOf("/") + 1)}${name}`;
    const value = contentBytes(content, unpack, depth + 1);
    if (typeUrl === any.typeUrl && Buffer.compare(value, any.value) === 0) return any;
    return { ...any, typeUrl, value };
  }

  function contentBytes({ schema, message }: UnpackedAny, unpack: Unpack, depth: number): Uint8Array {
    return toBinary(schema, rewriteMessage(schema, message, unpack, depth));
  }

  return (schema, message, unpack) => rewriteMessage(schema, message, unpack, 0);
}

const maps = new WeakMap<DescMessage, readonly DescField[]>();

function mapsOf(schema: DescMessage): readonly DescField[] {
  let fields = maps.get(schema);
  if (fields === undefined) {
    fields = schema.fields.filter((field) => field.fieldKind === "map");
    maps.set(schema, fields);
  }
  return fields;
}

function mapList(list: readonly unknown[], one: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const after = one(item);
    if (after === item) continue;
    copy ??= [...list];
    copy[index] = after;
  }
  return copy ?? list;
}

function mapRecord(record: Record<string, unknown>, one: (item: unknown) => unknown): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(record)) {
    const after = one(item);
    if (after === item) continue;
    copy ??= { ...record };
    copy[key] = after;
  }
  return copy ?? record;
}

/** The same record if its keys are in order. (Keys that look like small integers come first, ascending, in every JavaScript object.) */
function sortedRecord(record: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(record);
  const sorted = keys.toSorted(byCodeUnits);
  const result: Record<string, unknown> = {};
  for (const key of sorted)
    Object.defineProperty(result, key, { value: record[key], enumerable: true, writable: true, configurable: true });
  return Object.keys(result).every((key, index) => key === keys[index]) ? record : result;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return mapList(value, sortedJson);
  if (typeof value !== "object" || value === null) return value;
  return mapRecord(sortedRecord(value as Record<string, unknown>), sortedJson);
}
