import type { ApiVersion, ResourceName, TypeUrl, Version } from "./identifiers.js";
import type { Reference, ResourceType } from "./resource-types/resource-type.js";

/**
 * One named resource, read and checked once; never decoded again for a stream.
 * Immutable and shared by every snapshot, group and stream that has it.
 */
export interface Resource {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** A hash of the content: body, aliases and TTL. Equal content has an equal version on every server and after every restart (rule 82). */
  readonly version: Version;
  /** The v3 message, serialized deterministically: map entries are sorted, inside known `Any`s too. */
  readonly body: Uint8Array;
  readonly aliases: readonly ResourceName[];
  /** Time to live in milliseconds; undefined is for ever. */
  readonly ttl: number | undefined;
  readonly references: readonly Reference[];
}

/** A resource as one version of the API writes it into an `Any`. */
export interface EncodedResource {
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
}

export type { ApiVersion };
