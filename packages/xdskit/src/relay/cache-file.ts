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

/** What a file of the cache holds. */
export interface CachedType {
  readonly type: ResourceType;
  readonly resources: readonly ReceivedResource[];
  /** The set's, of the origin; empty where it is not known. */
  readonly version: Version;
  /** Who gave it, and whose versions they are; empty where that is not known. */
  readonly origin: string;
}

/** What could be read of a file. */
export interface ReadCache extends CachedType {
  /** What is wrong with it. With any it is not all that there was. */
  readonly findings: readonly Finding[];
}

/** The first format is the only one. Another number is for what this reader would misunderstand. */
const format = 1;
const titleOf = (number: number | string, checksum: string) =>
  `xdskit relay cache, format ${number}, sha256 ${checksum}`;
/** The title of any format, past or to come. */
const anyTitle = /^xdskit relay cache, format (\d+), /;
/** Of a `DiscoveryResponse`, by which every tool reads the file. The nonce comes first, and is the title. */
const nonceTag = (5 << 3) | 2;
const wrapperUrl = `${typeUrlPrefix}${ResourceSchema.typeName}`;

/**
 * The bytes of a file: a binary `DiscoveryResponse` of wrappers with the origin's versions and the very bytes that the origin sent. Its nonce says the format and the checksum of what follows
 * it. For how long nobody kept alive what has a TTL is not known after a restart: it is left out.
 */
export function writeCacheFile({ type, resources, version, origin }: CachedType): Uint8Array {
  const lasting = resources.filter(({ ttl }) => ttl === undefined);
  const response = create(DiscoveryResponseSchema, {
    // A set that lacks something is not the one of that version.
    versionInfo: lasting.length === resources.length ? version : "",
    typeUrl: type.typeUrl,
    controlPlane: { identifier: origin },
    resources: lasting.map(({ name, version, aliases, typeUrl, value }) => {
      const wrapper = create(ResourceSchema, { name, version, aliases: [...aliases], resource: { typeUrl, value } });
      return { typeUrl: wrapperUrl, value: toBinary(ResourceSchema, wrapper) };
    }),
  });
  const content = toBinary(DiscoveryResponseSchema, response);
  const title = Buffer.from(titleOf(format, checksumOf(content)));
  return Buffer.concat([Uint8Array.of(nonceTag, title.length), title, content]);
}

/** Reads what `writeCacheFile` wrote. Throws an XdskitError where nothing of the file can be believed. */
export function readCacheFile(
  bytes: Uint8Array,
  type: ResourceType,
  registry: Registry | undefined,
  validate: ValidateLevel = "types",
): ReadCache {
  const { versionInfo: version, controlPlane, resources: wrappers, typeUrl } = contentOf(bytes);
  if (typeUrl !== type.typeUrl) throw unusable(`it holds resources of the type ${JSON.stringify(typeUrl)}`);
  const findings: Finding[] = [];
  const resources: ReceivedResource[] = [];
  for (const { value: wrapper } of wrappers) {
    const { name, version, aliases, resource: inner } = fromBinary(ResourceSchema, wrapper);
    const { typeUrl = "", value = new Uint8Array() } = inner ?? {};
    const kept = keptResource({ type, name, version, aliases, ttl: undefined, typeUrl, value }, { registry });
    const wrong = validate === "off" ? [] : findingsOf(kept, registry, validate === "full");
    if (wrong.length === 0) resources.push(kept);
    for (const finding of wrong) findings.push({ ...finding, type: type.name, resource: name });
  }
  const whole = findings.length === 0;
  return { type, resources, version: whole ? version : "", origin: controlPlane?.identifier ?? "", findings };
}

function contentOf(bytes: Uint8Array) {
  const [tag, length = 0] = bytes;
  const title = tag === nonceTag ? Buffer.from(bytes.subarray(2, 2 + length)).toString("latin1") : "";
  const number = anyTitle.exec(title)?.[1];
  if (number !== undefined && Number(number) > format) {
    throw unusable(`a newer xdskit wrote it, in format ${number}; this one reads format ${format}`);
  }
  const content = bytes.subarray(2 + length);
  if (number === undefined) throw unusable("it is no file of the cache, or its beginning is damaged");
  if (title !== titleOf(format, checksumOf(content))) throw unusable("it is damaged: its checksum is wrong");
  return fromBinary(DiscoveryResponseSchema, content);
}

/** Why a resource cannot be served any more: extensions, rules, or the reader became other ones. */
function findingsOf(kept: ReceivedResource, registry: Registry | undefined, rules: boolean): readonly Finding[] {
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
