import type { ApiVersion, EncodedResource, Nonce, Resource, ResourceName, TypeUrl, Version } from "@xdskit/api";
import { encodedAs, nameless } from "@xdskit/api";
import { fieldLength, textBytes, utf8Length, WireWriter } from "@xdskit/api/wire";
import { durationBytes } from "../basics/duration.js";

/** The fields that all resources and responses of one kind share. */
export interface ResponseHead {
  readonly typeUrl: TypeUrl;
  readonly api: ApiVersion;
  /** The set's: `version_info`, `system_version_info`. */
  readonly version: Version;
  /** The client is told TTLs (rules 127–129). */
  readonly ttl: boolean;
  /** The client is told which variant of a name it gets (xRFC TP2). */
  readonly variants: boolean;
}

/** Why a client does not get a resource that it asked for (`ResourceError`, xRFC TP3). */
export interface ResourceError {
  readonly name: ResourceName;
  /**
   * gRPC's: NOT_FOUND (5) and PERMISSION_DENIED (7) mean that it is gone; with others, the client's copy stays good.
   */
  readonly code: number;
  readonly message: string;
}

/** A `DiscoveryResponse` without its nonce; v2 and v3 have the same field numbers. */
export function writeSotwBody(
  head: ResponseHead,
  resources: readonly Resource[],
  errors: readonly ResourceError[] = [],
): Uint8Array {
  const encoded = errors.map(errorBytes);
  const anys = resources.map((resource) => sotwEntry(head, resource));
  let length = headLength(head);
  for (const any of anys) length += fieldLength(any.length);
  for (const error of encoded) length += fieldLength(error.length);
  const writer = new WireWriter(length);
  writer.text(1, head.version, utf8Length(head.version));
  for (const any of anys) {
    writer.head(2, any.length);
    writeAny(writer, any);
  }
  writer.text(4, head.typeUrl, utf8Length(head.typeUrl));
  for (const error of encoded) writer.field(7, error);
  return writer.bytes;
}

/** One resource of a SotW response, of field 2. */
export function sotwEntry(head: ResponseHead, resource: Resource): SizedAny {
  const bare = anyOf(encodedAs(resource, head.api));
  const isVariant = head.variants && resource.variant !== undefined;
  // The body of these resources has no name, so nothing else would say it.
  const isNamed = resource.type.nameOf !== nameless;
  if (isNamed && !isVariant && (!head.ttl || resource.ttl === undefined)) return bare;
  // Rule 128. The version is our choice: the response's, so that a heartbeat has the same bytes as the response before
  // it.
  const wrapper = sizedResource(resource, { ...head, any: bare, aliases: none });
  return anyOf({ typeUrl: wrapperUrl, value: resourceBytes(wrapper) });
}

/** The content of a delta response. A name is in one of the lists, once (rules 95, 96). */
export interface DeltaContent {
  readonly resources: readonly Resource[];
  readonly removed: readonly ResourceName[];
  /**
   * Names that were asked for and do not exist, of a type whose clients expect an alias without a resource then (rule
   * 138).
   */
  readonly unresolved: readonly ResourceName[];
  /** Those whose TTL starts anew, without a body (rule 131). */
  readonly heartbeats?: readonly Resource[] | undefined;
  /** By name and constraints. */
  readonly removedVariants?: readonly Resource[] | undefined;
  readonly errors?: readonly ResourceError[] | undefined;
}

/** A `DeltaDiscoveryResponse` without its nonce. */
export function writeDeltaBody(head: ResponseHead, content: DeltaContent): Uint8Array {
  const entries = content.resources.map((resource) => deltaEntry(head, resource));
  for (const resource of content.heartbeats ?? []) entries.push(heartbeatEntry(head, resource));
  const removed = content.removed.map((name) => ({ name, length: utf8Length(name) }));
  const unresolved = content.unresolved.map((name) => ({ name, length: utf8Length(name) }));

  let length = headLength(head);
  for (const entry of entries) length += fieldLength(entry.length);
  const removedVariants = (content.removedVariants ?? []).map(resourceNameBytes);
  for (const name of removed) length += fieldLength(name.length);
  for (const name of removedVariants) length += fieldLength(name.length);
  const errors = (content.errors ?? []).map(errorBytes);
  for (const error of errors) length += fieldLength(error.length);
  for (const name of unresolved) length += fieldLength(2 * fieldLength(name.length));

  const writer = new WireWriter(length);
  writer.text(1, head.version, utf8Length(head.version));
  for (const entry of entries) {
    writer.head(2, entry.length);
    writeResource(writer, entry);
  }
  for (const { name, length } of unresolved) writeUnresolved(writer, name, length);
  writer.text(4, head.typeUrl, utf8Length(head.typeUrl));
  for (const { name, length } of removed) writer.text(6, name, length);
  for (const name of removedVariants) writer.field(8, name);
  for (const error of errors) writer.field(9, error);
  return writer.bytes;
}

/** One resource of a delta response, of field 2. */
export function deltaEntry({ api, ttl, variants }: ResponseHead, resource: Resource): SizedResource {
  const any = anyOf(encodedAs(resource, api));
  // Named one by one: spreading the head for each resource costs more than all else.
  return sizedResource(resource, { version: resource.version, any, aliases: resource.aliases, ttl, variants });
}

/** The same without a body (rule 131). */
export function heartbeatEntry({ ttl, variants }: ResponseHead, resource: Resource): SizedResource {
  return sizedResource(resource, { version: resource.version, any: undefined, aliases: none, ttl, variants });
}

/** An alias without a resource (rule 138), with its field's head. `length` is that of the name in UTF-8. */
export function writeUnresolved(writer: WireWriter, name: ResourceName, length: number): void {
  writer.head(2, 2 * fieldLength(length));
  writer.text(3, name, length);
  writer.text(4, name, length);
}

/** The nonce's field, number 5 in SotW and in delta. */
export function writeNonce(nonce: Nonce): Uint8Array {
  return textBytes(5, nonce);
}

const wrapperUrl: TypeUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";
const none: readonly ResourceName[] = [];

interface ResourceForm {
  readonly version: Version;
  /** Undefined for a heartbeat. */
  readonly any: SizedAny | undefined;
  readonly ttl: boolean;
  readonly variants: boolean;
  readonly aliases: readonly ResourceName[];
}

/** An `envoy.service.discovery.v3.Resource`; v2's has the same field numbers, and no TTL. */
export interface SizedResource extends Omit<ResourceForm, "ttl" | "variants"> {
  readonly name: ResourceName;
  readonly versionLength: number;
  readonly nameLength: number;
  /** A serialized `ResourceName`, in place of the name. */
  readonly resourceName: Uint8Array | undefined;
  /** A serialized `google.protobuf.Duration`. */
  readonly ttl: Uint8Array | undefined;
  readonly length: number;
}

function sizedResource(resource: Resource, form: ResourceForm): SizedResource {
  const { name, ttl: milliseconds, variant } = resource;
  const { version, any, aliases } = form;
  const resourceName = form.variants && variant !== undefined ? resourceNameBytes(resource) : undefined;
  const versionLength = utf8Length(version);
  const nameLength = utf8Length(name);
  const ttl = form.ttl && milliseconds !== undefined ? durationBytes(milliseconds) : undefined;
  let length = fieldLength(versionLength) + fieldLength(resourceName?.length ?? nameLength);
  if (any !== undefined) length += fieldLength(any.length);
  for (const alias of aliases) length += fieldLength(utf8Length(alias));
  if (ttl !== undefined) length += fieldLength(ttl.length);
  return { name, version, any, aliases, versionLength, nameLength, resourceName, ttl, length };
}

/** Writes an entry behind its field's head. */
export function writeResource(writer: WireWriter, entry: SizedResource): void {
  writer.text(1, entry.version, entry.versionLength);
  if (entry.any !== undefined) {
    writer.head(2, entry.any.length);
    writeAny(writer, entry.any);
  }
  if (entry.resourceName === undefined) writer.text(3, entry.name, entry.nameLength);
  for (const alias of entry.aliases) writer.text(4, alias, utf8Length(alias));
  if (entry.ttl !== undefined) writer.field(6, entry.ttl);
  if (entry.resourceName !== undefined) writer.field(8, entry.resourceName);
}

/** A `ResourceError`: a `ResourceName`, and a `google.rpc.Status`. */
export function errorBytes({ name, code, message }: ResourceError): Uint8Array {
  const nameLength = utf8Length(name);
  const messageLength = utf8Length(message);
  const status = 2 + fieldLength(messageLength);
  const writer = new WireWriter(fieldLength(fieldLength(nameLength)) + fieldLength(status));
  writer.head(1, fieldLength(nameLength));
  writer.text(1, name, nameLength);
  writer.head(2, status);
  writer.number(1, code);
  writer.text(2, message, messageLength);
  return writer.bytes;
}

/** A `ResourceName`, with constraints if it is a variant. */
export function resourceNameBytes({ name, variant }: Resource): Uint8Array {
  const nameLength = utf8Length(name);
  const constraints = variant === undefined ? 0 : fieldLength(variant.body.length);
  const writer = new WireWriter(fieldLength(nameLength) + constraints);
  writer.text(1, name, nameLength);
  if (variant !== undefined) writer.field(2, variant.body);
  return writer.bytes;
}

function resourceBytes(entry: SizedResource): Uint8Array {
  const writer = new WireWriter(entry.length);
  writeResource(writer, entry);
  return writer.bytes;
}

/** An `Any` and its length. */
interface SizedAny extends EncodedResource {
  readonly length: number;
  readonly urlLength: number;
}

function anyOf({ typeUrl, value }: EncodedResource): SizedAny {
  const urlLength = utf8Length(typeUrl);
  return {
    typeUrl,
    value,
    urlLength,
    length: fieldLength(urlLength) + (value.length === 0 ? 0 : fieldLength(value.length)),
  };
}

/** Writes an `Any` behind its field's head. */
export function writeAny(writer: WireWriter, any: SizedAny): void {
  writer.text(1, any.typeUrl, any.urlLength);
  if (any.value.length > 0) writer.field(2, any.value);
}

function headLength(head: ResponseHead): number {
  return fieldLength(utf8Length(head.version)) + fieldLength(utf8Length(head.typeUrl));
}
