import type { Message } from "@bufbuild/protobuf";
import {
  createResource,
  envoyRegistry,
  type Registry,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  readBody,
  type TypeUrl,
  type Version,
  XdskitError,
} from "@xdskit/api";
import { findingsOf } from "./rejection.js";

/** One resource as a server sent it, decoded once. Immutable, and shared by all its watchers. */
export interface ReceivedResource<Shape extends Message = Message> {
  readonly type: ResourceType;
  /** As the server writes it. */
  readonly name: ResourceName;
  /** The server's, opaque. SotW: of the response that brought it; delta: the resource's own. */
  readonly version: Version;
  readonly aliases: readonly ResourceName[];
  /** Time to live in milliseconds, counted from each time that it came or was kept alive. Undefined means for ever. */
  readonly ttl: number | undefined;
  /**
   * In the messages of v3, in whichever version it was sent. Shared: do not change it. Throws an XdskitError if it was
   * never read before and cannot be.
   */
  readonly message: Shape;
  /** As on the wire: v2's or v3's. */
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
  /** The same as a resource of a snapshot; made when first asked for. Throws as `createResource` does. */
  resource(): Resource;
}

/** The registry of messages and the table of types; Envoy's by default. */
export interface ReceivedOptions {
  readonly registry?: Registry | undefined;
  readonly types?: ResourceTypes | undefined;
}

/**
 * Treats a resource of a snapshot as received: for files and caches on disk. Its message is read when first asked for.
 */
export function receivedResource(
  resource: Resource,
  version: Version,
  options: ReceivedOptions = {},
): ReceivedResource {
  const { type, name, aliases, ttl, body } = resource;
  const parts = { type, name, version, aliases, ttl, typeUrl: type.typeUrl, value: body };
  return new Received(parts, options, undefined, resource);
}

/**
 * Restores a resource that was received in an earlier run, from its bytes: for caches on disk. Its message is read when
 * first asked for, and throws if it cannot be read.
 */
export function keptResource(parts: ReceivedParts, options: ReceivedOptions = {}): ReceivedResource {
  return new Received(parts, options);
}

/** All parts of a received resource except its message. */
export type ReceivedParts = Omit<ReceivedResource, "message" | "resource">;

/** A `ReceivedResource`; its message is read when first asked for, unless it was before. */
export class Received implements ReceivedResource {
  readonly type: ResourceType;
  readonly name: ResourceName;
  readonly version: Version;
  readonly aliases: readonly ResourceName[];
  readonly ttl: number | undefined;
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
  readonly #options: ReceivedOptions;
  #message: Message | undefined;
  #resource: Resource | undefined;

  constructor(parts: ReceivedParts, options: ReceivedOptions, message?: Message, resource?: Resource) {
    this.type = parts.type;
    this.name = parts.name;
    this.version = parts.version;
    this.aliases = parts.aliases;
    this.ttl = parts.ttl;
    this.typeUrl = parts.typeUrl;
    this.value = parts.value;
    this.#options = options;
    this.#message = message;
    this.#resource = resource;
  }

  /** The same content with another version, TTL or aliases: a message that was read is not read again. */
  static again(before: ReceivedResource, parts: ReceivedParts, options: ReceivedOptions): Received {
    return new Received(parts, options, before instanceof Received ? before.#message : undefined);
  }

  get message(): Message {
    this.#message ??= this.#read();
    return this.#message;
  }

  #read(): Message {
    try {
      return readBody(this.type, this.typeUrl, this.value, this.#options.registry ?? envoyRegistry());
    } catch (cause) {
      const [first, ...more] = findingsOf(this.type, this.name, cause).findings;
      throw first === undefined ? cause : new XdskitError([first, ...more], { cause });
    }
  }

  /** Makes the resource, so that it is there; why it cannot be made is for those who ask for it. */
  tryResource(): void {
    try {
      this.resource();
    } catch {}
  }

  resource(): Resource {
    const { name, aliases, ttl } = this;
    this.#resource ??= createResource(this.message, { name, aliases, ttl, ...this.#options });
    return this.#resource;
  }
}
