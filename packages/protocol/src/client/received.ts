import { create, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import {
  createResource,
  envoyRegistry,
  type Registry,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  schemaOf,
  type TypeUrl,
  typeNameOf,
  typeUrlPrefix,
  upgradeMessage,
  type Version,
  XdskitError,
} from "@xdskit/api";
import { findingsOf } from "./rejection.js";

/** One resource as a server sent it, decoded once. Immutable, and shared by all that watch it. */
export interface ReceivedResource<Shape extends Message = Message> {
  readonly type: ResourceType;
  /** As the server writes it. */
  readonly name: ResourceName;
  /** The server's, opaque. SotW: of the response that brought it; delta: the resource's own. */
  readonly version: Version;
  readonly aliases: readonly ResourceName[];
  /** Time to live in milliseconds, counted from each time that it came or was kept alive; undefined is for ever. */
  readonly ttl: number | undefined;
  /** In the messages of v3, whatever was sent. Shared: not to be changed. Throws an XdskitError where nobody looked at it before, and it is none. */
  readonly message: Shape;
  /** As it stood on the wire: v2's or v3's. */
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
  /** The same as a resource of a snapshot; made when first asked for. Throws what `createResource` throws. */
  resource(): Resource;
}

/** Where messages and types are looked up; Envoy's by default. */
export interface ReceivedOptions {
  readonly registry?: Registry | undefined;
  readonly types?: ResourceTypes | undefined;
}

/** A resource of a snapshot as if it had been received: for what comes from files and caches on disk. Its message is read when first asked for. */
export function receivedResource(
  resource: Resource,
  version: Version,
  options: ReceivedOptions = {},
): ReceivedResource {
  const { type, name, aliases, ttl, body } = resource;
  const parts = { type, name, version, aliases, ttl, typeUrl: type.typeUrl, value: body };
  return new Received(parts, options, undefined, resource);
}

/** A resource that was received in an earlier run, of its bytes: for caches on disk. Its message is read when first asked for, and that throws where they are none. */
export function keptResource(parts: ReceivedParts, options: ReceivedOptions = {}): ReceivedResource {
  return new Received(parts, options);
}

/** What a resource is made of, but for its message. */
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

  /** The same content with another version, TTL or aliases: what was read of it is not read again. */
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

  resource(): Resource {
    const { name, aliases, ttl } = this;
    this.#resource ??= createResource(this.message, { name, aliases, ttl, ...this.#options });
    return this.#resource;
  }
}

/** The v3 schema of a type's messages; undefined for a type that is not known, and for one whose resources may be anything. */
export function schemaOfType(type: ResourceType, registry: Registry): DescMessage | undefined {
  if (type.anyContent) return undefined;
  return registry.getMessage(type.typeUrl.slice(typeUrlPrefix.length)) ?? type.schema;
}

/**
 * Reads a body of v2 or v3, in v2 also what is inside, as messages of v3. Of a type whose resources may be anything, what is of an unknown type is an `Any`. Throws an
 * error for what is no such message.
 */
export function readBody(type: ResourceType, typeUrl: TypeUrl, value: Uint8Array, registry: Registry): Message {
  if (type.anyContent) {
    const any = create(AnySchema, { typeUrl, value });
    const known = schemaOf(typeNameOf(typeUrl), registry);
    if (known === undefined) return any;
    const content = fromBinary(known, value);
    return known.typeName === typeNameOf(typeUrl) ? content : upgradeMessage(content, registry);
  }
  const schema = schemaOfType(type, registry);
  if (schema === undefined) throw new Error(`messages of ${type.typeUrl} are not known`);
  // Fields have the same numbers in v2 and v3; what `Any`s inside hold has other type URLs.
  const message = fromBinary(schema, value);
  return typeUrl === type.typeUrl ? message : upgradeMessage(message, registry);
}
