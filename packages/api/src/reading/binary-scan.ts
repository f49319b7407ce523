import { type DescField, type DescMessage, fromBinary, type Message, ScalarType } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { leastValues, maxValues, tooManyValues } from "../errors/limits.js";
import { schemaOf } from "../messages/v2-names.js";
import { typeNameOf } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import type { Registry } from "../registry/registry.js";
import { nestingLimit } from "../text/source-document.js";
import { delimited, WireReader, wireType } from "../wire/wire-reader.js";

/** A serialized `DiscoveryResponse` whose resources are not decoded yet. */
export interface ScannedResponse {
  /** The message without resources. */
  readonly head: Message;
  /** Whether there are fields that it does not have. */
  readonly hasUnknown: boolean;
  /** The offset of each resource's length. */
  readonly resources: readonly number[];
  /** Decodes one of them. Throws if it is no `Any`. */
  read(index: number): Any;
}

/** Thrown for more than a text or a message may have. */
export class TooManyValues extends Error {}

/** Finds the resources of a response. Throws if the bytes are no message, or `TooManyValues`. */
export function scanResponse(schema: DescMessage, bytes: Uint8Array, most: number): ScannedResponse {
  const fields = fieldsByNumber(schema);
  const resources: number[] = [];
  const others = new OtherFields(bytes);
  let hasUnknown = false;
  let count = 0;
  const reader = new WireReader(bytes);
  while (!reader.atEnd) {
    const start = reader.position;
    const tag = reader.tag();
    if (++count > most) throw new TooManyValues(tooManyValues(most));
    const content = reader.position;
    reader.skip(tag);
    const field = fields.get(tag >>> 3);
    if (field?.name === "resources" && tag === delimited(field.number)) resources.push(content);
    else if (field === undefined) hasUnknown = true;
    else others.add(start, reader.position);
  }
  const read = (index: number) => {
    const span = { start: resources[index] ?? bytes.length, end: bytes.length };
    return fromBinary(AnySchema, new WireReader(bytes, span).part());
  };
  // Before anything is added, as a message is decoded whole or not at all.
  for (let index = 0; index < resources.length; index += 1) read(index);
  return { head: fromBinary(schema, others.joined()), hasUnknown, resources, read };
}

const fieldsByNumber = perObject(
  (schema: DescMessage): ReadonlyMap<number, DescField> => new Map(schema.fields.map((field) => [field.number, field])),
);

/** Parts of a message in one piece, without an object for each. */
class OtherFields {
  readonly #from: Uint8Array;
  #joined: Uint8Array | undefined;
  #length = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  add(start: number, end: number): void {
    this.#joined ??= new Uint8Array(this.#from.length);
    this.#joined.set(this.#from.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  joined(): Uint8Array {
    return this.#joined?.subarray(0, this.#length) ?? new Uint8Array();
  }
}

/** Whether a serialized message has more fields and items than it may have; all of them would be objects. */
export function hasTooManyValues(schema: DescMessage, bytes: Uint8Array, registry: Registry): boolean {
  // Each takes a byte at least.
  if (bytes.length <= leastValues) return false;
  try {
    return new ValueCount(registry, maxValues(bytes.length)).isExceeded(schema, bytes, 0);
  } catch {
    // It is no message: the decoder says why.
    return false;
  }
}

class ValueCount {
  readonly #registry: Registry;
  #left: number;

  constructor(registry: Registry, most: number) {
    this.#registry = registry;
    this.#left = most;
  }

  isExceeded(schema: DescMessage, bytes: Uint8Array, depth: number): boolean {
    if (depth > nestingLimit) return false;
    const fields = fieldsByNumber(schema);
    const reader = new WireReader(bytes);
    let typeUrl = "";
    while (!reader.atEnd && this.#left >= 0) {
      const tag = reader.tag();
      this.#left -= 1;
      const field = fields.get(tag >>> 3);
      if (field === undefined || (tag & 7) !== wireType.lengthDelimited) {
        reader.skip(tag);
        continue;
      }
      const content = reader.part();
      if (schema.typeName === "google.protobuf.Any") {
        if (field.number === 1) typeUrl = Buffer.from(content).toString();
        const inner = field.number === 2 ? schemaOf(typeNameOf(typeUrl), this.#registry) : undefined;
        if (inner !== undefined && this.isExceeded(inner, content, depth + 1)) return true;
      } else if (field.fieldKind !== "map" && field.message !== undefined) {
        if (this.isExceeded(field.message, content, depth + 1)) return true;
      } else if (field.fieldKind === "map") {
        if (field.message !== undefined && this.#isEntryExceeded(field.message, content, depth + 1)) return true;
      } else if (field.scalar !== ScalarType.STRING && field.scalar !== ScalarType.BYTES) {
        // Packed items.
        this.#left -= content.length;
      }
    }
    return this.#left < 0;
  }

  #isEntryExceeded(value: DescMessage, entry: Uint8Array, depth: number): boolean {
    const reader = new WireReader(entry);
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (tag !== delimited(2)) reader.skip(tag);
      else if (this.isExceeded(value, reader.part(), depth)) return true;
    }
    return false;
  }
}
