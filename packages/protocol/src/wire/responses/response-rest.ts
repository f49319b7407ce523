import type { Resource } from "@xdskit/api";
import { fieldLength, utf8Length, WireWriter } from "@xdskit/api/wire";
import {
  type DeltaContent,
  deltaEntry,
  errorBytes,
  heartbeatEntry,
  type ResourceError,
  type ResponseHead,
  resourceNameBytes,
  type SizedResource,
  sotwEntry,
  writeAny,
  writeResource,
  writeUnresolved,
} from "./responses.js";

/** One field of a body, not written yet. */
interface RestField {
  /** With its head. */
  readonly length: number;
  /** Shared bytes in it: if they are many, they are not copied. */
  readonly value: Uint8Array | undefined;
  readonly write: (writer: WireWriter) => void;
}

/** Fewer bytes are copied: that costs less than separate pieces. */
const sharedBytes = 4 * 1024;

/**
 * The output of `writeSotwBody` from an offset on, in pieces that are made one by one; large resources are not copied.
 */
export function sotwRest(
  head: ResponseHead,
  resources: readonly Resource[],
  errors: readonly ResourceError[],
  from: number,
): Iterator<Uint8Array> {
  return restOf(sotwFields(head, resources, errors), from);
}

/** The same of `writeDeltaBody`. */
export function deltaRest(head: ResponseHead, content: DeltaContent, from: number): Iterator<Uint8Array> {
  return restOf(deltaFields(head, content), from);
}

function* sotwFields(
  head: ResponseHead,
  resources: readonly Resource[],
  errors: readonly ResourceError[],
): Iterable<RestField> {
  yield textField(1, head.version);
  for (const resource of resources) {
    const any = sotwEntry(head, resource);
    yield {
      length: fieldLength(any.length),
      value: any.value,
      write(writer) {
        writer.head(2, any.length);
        writeAny(writer, any);
      },
    };
  }
  yield textField(4, head.typeUrl);
  for (const error of errors) yield bytesField(7, errorBytes(error));
}

function* deltaFields(head: ResponseHead, content: DeltaContent): Iterable<RestField> {
  const { resources, heartbeats = [], unresolved, removed, removedVariants = [], errors = [] } = content;
  yield textField(1, head.version);
  for (const resource of resources) yield entryField(deltaEntry(head, resource));
  for (const resource of heartbeats) yield entryField(heartbeatEntry(head, resource));
  for (const name of unresolved) {
    const length = utf8Length(name);
    const write = (writer: WireWriter) => writeUnresolved(writer, name, length);
    yield { length: fieldLength(2 * fieldLength(length)), value: undefined, write };
  }
  yield textField(4, head.typeUrl);
  for (const name of removed) yield textField(6, name);
  for (const resource of removedVariants) yield bytesField(8, resourceNameBytes(resource));
  for (const error of errors) yield bytesField(9, errorBytes(error));
}

function entryField(entry: SizedResource): RestField {
  return {
    length: fieldLength(entry.length),
    value: entry.any?.value,
    write(writer) {
      writer.head(2, entry.length);
      writeResource(writer, entry);
    },
  };
}

function textField(field: number, text: string): RestField {
  const length = utf8Length(text);
  return { length: fieldLength(length), value: undefined, write: (writer) => writer.text(field, text, length) };
}

function bytesField(field: number, bytes: Uint8Array): RestField {
  return { length: fieldLength(bytes.length), value: bytes, write: (writer) => writer.field(field, bytes) };
}

function* restOf(fields: Iterable<RestField>, from: number): Generator<Uint8Array> {
  let ahead = from;
  for (const field of fields) {
    if (ahead >= field.length) {
      ahead -= field.length;
      continue;
    }
    for (const piece of piecesOf(field)) {
      if (ahead < piece.length) yield ahead === 0 ? piece : piece.subarray(ahead);
      ahead = Math.max(0, ahead - piece.length);
    }
  }
}

function piecesOf({ length, value, write }: RestField): readonly Uint8Array[] {
  const leftOut = value !== undefined && value.length >= sharedBytes ? value : undefined;
  const writer = new WireWriter(length - (leftOut?.length ?? 0), leftOut);
  write(writer);
  const { bytes, gap } = writer;
  return leftOut === undefined ? [bytes] : [bytes.subarray(0, gap), leftOut, bytes.subarray(gap)];
}
