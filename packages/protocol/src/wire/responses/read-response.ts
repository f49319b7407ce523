import type { Nonce, ResourceName, TypeUrl, Version } from "@xdskit/api";
import {
  delimited,
  embedded,
  messageReader,
  readSecondsAndNanos,
  type Span,
  single,
  textField,
  varintTag,
  WireReader,
} from "@xdskit/api/wire";
import { longestErrorText } from "../../model/basics/limits.js";
import type { ResourceError } from "./responses.js";

/** One resource of a response, with its body in place. */
export interface SentResource {
  /** Undefined if only the body may have it: an `Any` that is not wrapped. */
  readonly name: ResourceName | undefined;
  /** The resource's own; empty if the response gives it none. */
  readonly version: Version;
  readonly aliases: readonly ResourceName[];
  /** Milliseconds. */
  readonly ttl: number | undefined;
  /** Undefined for a heartbeat, and for a name that could not be resolved. */
  readonly body: SentBody | undefined;
}

/** The content of an `Any`. */
export interface SentBody {
  readonly typeUrl: TypeUrl;
  readonly value: Span;
}

/** A `DiscoveryResponse` or a `DeltaDiscoveryResponse`, v2's or v3's, without decoded bodies. */
export interface SentResponse {
  readonly bytes: Uint8Array;
  readonly typeUrl: TypeUrl;
  /** The set's. */
  readonly version: Version;
  readonly nonce: Nonce;
  /** The places of its resources; `readSotwResource` and `readDeltaResource` read them. */
  readonly resources: readonly Span[];
  /**
   * Of resources, removed names and errors together. Those beyond `most` are only counted: the client must reject such
   * a response.
   */
  readonly count: number;
  readonly removed: readonly ResourceName[];
  readonly errors: readonly ResourceError[];
}

/** Reads a `DiscoveryResponse`. Resources and errors beyond `most` are only counted. Throws `MalformedMessage`. */
export function readSotwResponse(bytes: Uint8Array, most: number): SentResponse {
  return readResponse(bytes, { removed: 0, removedNames: 0, errors: 7 }, most);
}

/**
 * Reads a `DeltaDiscoveryResponse`. Resources, removed names and errors beyond `most` are only counted. Throws
 * `MalformedMessage`.
 */
export function readDeltaResponse(bytes: Uint8Array, most: number): SentResponse {
  return readResponse(bytes, { removed: 6, removedNames: 8, errors: 9 }, most);
}

interface FieldNumbers {
  readonly removed: number;
  readonly removedNames: number;
  readonly errors: number;
}

function readResponse(bytes: Uint8Array, numbers: FieldNumbers, most: number): SentResponse {
  const counted = new Set([2, numbers.removed, numbers.removedNames, numbers.errors].map(delimited));
  const reader = new WireReader(bytes);
  let count = 0;
  const resources: Span[] = [];
  const removed: ResourceName[] = [];
  const errors: ResourceError[] = [];
  let typeUrl = "";
  let version = "";
  let nonce = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (counted.has(tag)) count++;
    if (tag === delimited(1)) version = reader.string();
    else if (counted.has(tag) && count > most) reader.skip(tag);
    else if (tag === delimited(2)) resources.push(reader.span());
    else if (tag === delimited(4)) typeUrl = reader.string();
    else if (tag === delimited(5)) nonce = reader.string();
    else if (tag === delimited(numbers.removed)) removed.push(reader.string());
    else if (tag === delimited(numbers.removedNames)) removed.push(readResourceName(bytes, reader.span()).name);
    else if (tag === delimited(numbers.errors)) {
      const { name, status } = readError(bytes, reader.span());
      errors.push({ name, ...status });
    } else reader.skip(tag);
  }
  return { bytes, typeUrl, version, nonce, resources, count, removed, errors };
}

/** The message that wraps a resource, as it is called in v3 and in v2. */
const wrapperUrls: ReadonlySet<TypeUrl> = new Set([
  "type.googleapis.com/envoy.service.discovery.v3.Resource",
  "type.googleapis.com/envoy.api.v2.Resource",
]);

/** Reads an `Any` of a SotW response, wrapped (rule 128) or not. Throws `MalformedMessage`. */
export function readSotwResource(bytes: Uint8Array, span: Span): SentResource {
  const body = readAny(bytes, span);
  if (wrapperUrls.has(body.typeUrl)) return readDeltaResource(bytes, body.value);
  return { name: undefined, version: "", aliases: none, ttl: undefined, body };
}

const none: readonly ResourceName[] = Object.freeze([]);

/** Reads an `envoy.service.discovery.v3.Resource`; v2's has the same field numbers. Throws `MalformedMessage`. */
export function readDeltaResource(bytes: Uint8Array, span: Span): SentResource {
  const reader = new WireReader(bytes, span);
  const aliases: ResourceName[] = [];
  let name: ResourceName | undefined;
  let version = "";
  let ttl: number | undefined;
  let body: SentBody | undefined;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) version = reader.string();
    else if (tag === delimited(2)) body = readAny(bytes, reader.span());
    else if (tag === delimited(3)) name = reader.string();
    else if (tag === delimited(4)) aliases.push(reader.string());
    else if (tag === delimited(6)) ttl = readDuration(bytes, reader.span());
    else if (tag === delimited(8)) name = readResourceName(bytes, reader.span()).name;
    else reader.skip(tag);
  }
  return { name: name === "" ? undefined : name, version, aliases: aliases.length === 0 ? none : aliases, ttl, body };
}

function readAny(bytes: Uint8Array, span: Span): SentBody {
  const reader = new WireReader(bytes, span);
  let typeUrl = "";
  let value: Span = { start: span.end, end: span.end };
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) typeUrl = reader.string();
    else if (tag === delimited(2)) value = reader.span();
    else reader.skip(tag);
  }
  return { typeUrl, value };
}

/**
 * Reads a `ResourceName` without its constraints, which concern the server (xRFC TP2): a client has one of the
 * variants.
 */
const readResourceName = messageReader({ name: textField(1) });

const readStatus = messageReader({
  code: single(varintTag(1), 0, (reader) => reader.varint() | 0),
  message: single(delimited(2), "", beginningOf),
});

const readError = messageReader({
  name: single(delimited(1), "", (reader) => readResourceName(reader.bytes, reader.span()).name),
  status: embedded(2, { code: 0, message: "" }, readStatus),
});

/** Only this part of a long text is decoded: a part of a decoded text would keep the whole. */
function beginningOf(reader: WireReader): string {
  const { start, end } = reader.span();
  const text = new TextDecoder().decode(reader.bytes.subarray(start, Math.min(end, start + longestErrorText)));
  return end - start > longestErrorText ? text.replace(/\ufffd$/, "") : text;
}

/** A `google.protobuf.Duration` in milliseconds, more than 0; undefined for any other. */
function readDuration(bytes: Uint8Array, span: Span): number | undefined {
  const { seconds, nanos } = readSecondsAndNanos(bytes, span);
  // Negative ones are written with 64 bits.
  const milliseconds = seconds * 1000 + nanos / 1e6;
  return seconds < 2 ** 53 && nanos < 1e9 && milliseconds > 0 ? milliseconds : undefined;
}
