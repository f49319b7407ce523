import type { ApiVersion, EncodedResource, Nonce, Resource, ResourceName, TypeUrl, Version } from "@xdskit/api";
import { encodedAs } from "@xdskit/api";
import { fieldLength, utf8Length, WireWriter } from "./wire-writer.js";

/** What every resource and every response of one kind shares. */
export interface ResponseHead {
  readonly typeUrl: TypeUrl;
  readonly api: ApiVersion;
  /** The set's: `version_info`, `system_version_info`. */
  readonly version: Version;
}

/** A `DiscoveryResponse` without its nonce; v2 and v3 have the same field numbers. */
export function writeSotwBody(head: ResponseHead, resources: readonly Resource[]): Uint8Array {
  const anys = resources.map((resource) => anyOf(resource, head.api));
  let length = headLength(head);
  for (const any of anys) length += fieldLength(any.length);
  const writer = new WireWriter(length);
  writer.text(1, head.version, utf8Length(head.version));
  for (const any of anys) {
    writer.head(2, any.length);
    writeAny(writer, any);
  }
  writer.text(4, head.typeUrl, utf8Length(head.typeUrl));
  return writer.bytes;
}

/** What a delta response says. A name is in one of the lists, once (rules 95, 96). */
export interface DeltaContent {
  readonly resources: readonly Resource[];
  readonly removed: readonly ResourceName[];
  /** Asked for and not there, of a type whose clients want to hear so by an alias without a resource (rule 138). */
  readonly unresolved: readonly ResourceName[];
}

/** A `DeltaDiscoveryResponse` without its nonce. */
export function writeDeltaBody(head: ResponseHead, content: DeltaContent): Uint8Array {
  const entries = content.resources.map((resource) => {
    const any = anyOf(resource, head.api);
    const name = utf8Length(resource.name);
    const version = utf8Length(resource.version);
    let length = fieldLength(version) + fieldLength(any.length) + fieldLength(name);
    for (const alias of resource.aliases) length += fieldLength(utf8Length(alias));
    return { resource, any, name, version, length };
  });
  const removed = content.removed.map((name) => ({ name, length: utf8Length(name) }));
  const unresolved = content.unresolved.map((name) => ({ name, length: utf8Length(name) }));

  let length = headLength(head);
  for (const entry of entries) length += fieldLength(entry.length);
  for (const name of removed) length += fieldLength(name.length);
  for (const name of unresolved) length += fieldLength(2 * fieldLength(name.length));

  const writer = new WireWriter(length);
  writer.text(1, head.version, utf8Length(head.version));
  for (const entry of entries) {
    writer.head(2, entry.length);
    writer.text(1, entry.resource.version, entry.version);
    writer.head(2, entry.any.length);
    writeAny(writer, entry.any);
    writer.text(3, entry.resource.name, entry.name);
    for (const alias of entry.resource.aliases) writer.text(4, alias, utf8Length(alias));
  }
  for (const { name, length } of unresolved) {
    writer.head(2, 2 * fieldLength(length));
    writer.text(3, name, length);
    writer.text(4, name, length);
  }
  writer.text(4, head.typeUrl, utf8Length(head.typeUrl));
  for (const { name, length } of removed) writer.text(6, name, length);
  return writer.bytes;
}

/** The nonce's field, number 5 in both variants. */
export function writeNonce(nonce: Nonce): Uint8Array {
  const writer = new WireWriter(fieldLength(nonce.length));
  writer.text(5, nonce, nonce.length);
  return writer.bytes;
}

interface SizedAny extends EncodedResource {
  readonly length: number;
  readonly urlLength: number;
}

function anyOf(resource: Resource, api: ApiVersion): SizedAny {
  const { typeUrl, value } = encodedAs(resource, api);
  const urlLength = utf8Length(typeUrl);
  return {
    typeUrl,
    value,
    urlLength,
    length: fieldLength(urlLength) + (value.length === 0 ? 0 : fieldLength(value.length)),
  };
}

function writeAny(writer: WireWriter, any: SizedAny): void {
  writer.text(1, any.typeUrl, any.urlLength);
  if (any.value.length > 0) writer.field(2, any.value);
}

function headLength(head: ResponseHead): number {
  return fieldLength(utf8Length(head.version)) + fieldLength(utf8Length(head.typeUrl));
}
