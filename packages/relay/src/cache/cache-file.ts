import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Finding,
  type Registry,
  type ResourceType,
  typeUrlPrefix,
  type Version,
  validateMessage,
  XdskitError,
} from "@xdskit/api";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { ValidateLevel } from "@xdskit/client";
import { keptResource, type ReceivedResource } from "@xdskit/protocol";

/** The content of a cache file. */
export interface CachedType {
  readonly type: ResourceType;
  readonly resources: readonly ReceivedResource[];
  /** The origin's version of the set; empty where it is unknown. */
  readonly version: Version;
  /** Whether that version is of all resources of the type, and not of some names. */
  readonly isAll: boolean;
  /** The server that gave the set and its versions; empty where it is unknown. */
  readonly origin: string;
}

/** The result of reading a file. */
export interface ReadCache extends CachedType {
  /** The errors of the file. With an error the set is not complete. */
  readonly findings: readonly Finding[];
}

/** The first format is the only one. A new number marks files that this reader would misread. */
const format = 1;
const titleOf = (number: number | string, checksum: string) =>
  `xdskit relay cache, format ${number}, sha256 ${checksum}`;
/** The title of any format, old or new. */
const anyTitle = /^xdskit relay cache, format (\d+), /;
/**
 * The fields of a `DiscoveryResponse`, so that every tool can read the file. The nonce comes first and is the title.
 */
const titleTag = (5 << 3) | 2;
/** Behind the origin in a file that has all resources of its type. Older versions take it for another origin. */
const allMark = " *";
const wrapperUrl = `${typeUrlPrefix}${ResourceSchema.typeName}`;

/**
 * The bytes of a file: a binary `DiscoveryResponse` of wrappers with the origin's versions and the exact bytes that the
 * origin sent. Its nonce has the format and the checksum of the rest. Resources with a TTL are left out: after a
 * restart nobody knows how much of it is left.
 */
export function writeCacheFile({ type, resources, version, isAll, origin }: CachedType): Uint8Array {
  const lasting = resources.filter(({ ttl }) => ttl === undefined);
  const response = create(DiscoveryResponseSchema, {
    // A set with missing resources does not have that version.
    versionInfo: lasting.length === resources.length ? version : "",
    typeUrl: type.typeUrl,
    controlPlane: { identifier: isAll ? `${origin}${allMark}` : origin },
    resources: lasting.map(({ name, version, aliases, typeUrl, value }) => {
      const wrapper = create(ResourceSchema, { name, version, aliases: [...aliases], resource: { typeUrl, value } });
      return { typeUrl: wrapperUrl, value: toBinary(ResourceSchema, wrapper) };
    }),
  });
  const content = toBinary(DiscoveryResponseSchema, response);
  const title = Buffer.from(titleOf(format, checksumOf(content)));
  return Buffer.concat([Uint8Array.of(titleTag, title.length), title, content]);
}

/** Reads the output of `writeCacheFile`. Throws an XdskitError if nothing in the file can be trusted. */
export function readCacheFile(
  bytes: Uint8Array,
  type: ResourceType,
  registry: Registry | undefined,
  validate: ValidateLevel = "types",
): ReadCache {
  const { versionInfo: version, controlPlane, resources: wrappers, typeUrl } = contentOfFile(bytes);
  if (typeUrl !== type.typeUrl) throw unusable(`it holds resources of the type ${JSON.stringify(typeUrl)}`);
  const findings: Finding[] = [];
  const resources: ReceivedResource[] = [];
  for (const { value: wrapper } of wrappers) {
    const { name, version, aliases, resource: inner } = fromBinary(ResourceSchema, wrapper);
    const { typeUrl = "", value = new Uint8Array() } = inner ?? {};
    const kept = keptResource({ type, name, version, aliases, ttl: undefined, typeUrl, value }, { registry });
    const wrong = validate === "off" ? [] : cacheFindings(kept, registry, validate === "full");
    if (wrong.length === 0) resources.push(kept);
    for (const finding of wrong) findings.push({ ...finding, type: type.name, resource: name });
  }
  const whole = findings.length === 0;
  const { identifier = "" } = controlPlane ?? {};
  const isAll = identifier.endsWith(allMark);
  const origin = isAll ? identifier.slice(0, -allMark.length) : identifier;
  return { type, resources, version: whole ? version : "", isAll, origin, findings };
}

function contentOfFile(bytes: Uint8Array) {
  const [tag, length = 0] = bytes;
  const title = tag === titleTag ? Buffer.from(bytes.subarray(2, 2 + length)).toString("latin1") : "";
  const number = anyTitle.exec(title)?.[1];
  if (number !== undefined && Number(number) > format) {
    throw unusable(`a newer xdskit wrote it, in format ${number}; this one reads format ${format}`);
  }
  const content = bytes.subarray(2 + length);
  if (number === undefined) throw unusable("it is no file of the cache, or its beginning is damaged");
  if (title !== titleOf(format, checksumOf(content))) throw unusable("it is damaged: its checksum is wrong");
  return fromBinary(DiscoveryResponseSchema, content);
}

/** Why a resource cannot be served any more: extensions, rules or the reader have changed. */
function cacheFindings(kept: ReceivedResource, registry: Registry | undefined, rules: boolean): readonly Finding[] {
  try {
    kept.resource();
    return validateMessage(kept.message, { registry, rules });
  } catch (error) {
    if (error instanceof XdskitError) return error.findings;
    return [{ code: "XDSKIT_CACHE", severity: "error", message: `it cannot be read: ${(error as Error).message}` }];
  }
}

function checksumOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function unusable(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CACHE", message);
}
