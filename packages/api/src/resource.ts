import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { createUnpack, schemaOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { type ResourceName, type TypeUrl, typeUrlPrefix, type Version } from "./identifiers.js";
import { referencesOf } from "./references/references.js";
import { envoyRegistry, type Registry } from "./registry.js";
import type { Reference, ResourceType, ResourceTypes } from "./resource-types/resource-type.js";
import { resourceTypes } from "./resource-types/resource-types.js";
import { asV3 } from "./v2/upgrade.js";
import { type Constraints, keyOf, type Variant, variantOf } from "./variant.js";
import { versionOf } from "./version.js";
import { isFederated, nameProblem } from "./xdstp.js";

/**
 * One named resource, read and checked once; never decoded again for a stream.
 * Immutable and shared by every snapshot, group and stream that has it.
 */
export interface Resource {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /** What it is found by, unique within its type: its name in canonical form, and the constraints of a variant. Mostly the same as the name. */
  readonly key: ResourceName;
  /** A hash of the content: body, aliases and TTL. Equal content has an equal version on every server and after every restart (rule 82). */
  readonly version: Version;
  /** The v3 message, serialized deterministically: map entries are sorted, inside known `Any`s too. */
  readonly body: Uint8Array;
  readonly aliases: readonly ResourceName[];
  /** Set where it is one of several of its name, for clients with certain dynamic parameters. */
  readonly variant: Variant | undefined;
  /** Time to live in milliseconds; undefined is for ever. */
  readonly ttl: number | undefined;
  readonly references: readonly Reference[];
}

/** A resource as one version of the API writes it into an `Any`. */
export interface EncodedResource {
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
}

/** How `createResource` makes a resource of a message, and what the message itself has no place for. */
export interface ResourceOptions {
  /** Where the content of `Any`s is looked up; Envoy's messages by default. */
  readonly registry?: Registry | undefined;
  /** The built-in table by default. */
  readonly types?: ResourceTypes | undefined;
  /** Instead of the name that the message carries: needed for types that have none (LEDS) and for virtual hosts (`<route configuration>/<host>`). */
  readonly name?: ResourceName | undefined;
  readonly aliases?: readonly ResourceName[] | undefined;
  /** Time to live in milliseconds. */
  readonly ttl?: number | undefined;
  /** Makes it one of several variants of its name: the one for clients whose dynamic parameters these hold for. */
  readonly constraints?: Constraints | undefined;
}

/**
 * Makes a resource of a message, which may come from the generated modules or from a registry, and may be of v2 or hold messages of v2.
 * The message is not changed, and may be changed afterwards. Its fields are not validated: see `validateMessage`.
 *
 * Throws XDSKIT_TYPE_UNKNOWN when messages of its type are no resources, XDSKIT_NAME_MISSING when it has no name, XDSKIT_NAME_XDSTP when its name
 * begins with `xdstp:` and cannot be that of a resource of its type, XDSKIT_TTL when the TTL is not more than 0, XDSKIT_CONSTRAINTS when its
 * constraints are too many, and XDSKIT_MESSAGE_INVALID when a field holds what its type cannot.
 */
export function createResource(message: Message, options: ResourceOptions = {}): Resource {
  const types = options.types ?? resourceTypes;
  const found = types.byTypeUrl(`${typeUrlPrefix}${message.$typeName}`);
  if (found === undefined) {
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are no resources", { type: message.$typeName });
  }
  return build(found.type, message, options);
}

/**
 * Makes a resource of the serialized v3 message of a type.
 * Throws as `createResource` does, and XDSKIT_SYNTAX when the bytes are no such message.
 */
export function resourceFromBody(type: ResourceType, body: Uint8Array, options: ResourceOptions = {}): Resource {
  const schema = schemaFor(type, options.registry ?? envoyRegistry());
  let message: Message;
  try {
    message = fromBinary(schema, body);
  } catch (cause) {
    const where = { type: type.name, resource: options.name };
    throw XdskitError.of("XDSKIT_SYNTAX", `not a serialized ${schema.typeName}: ${reasonOf(cause)}`, where, { cause });
  }
  return build(type, message, options);
}

/** One for the many that have none. */
const none: readonly ResourceName[] = Object.freeze([]);

function build(type: ResourceType, message: Message, options: ResourceOptions): Resource {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaFor(type, registry);
  const unpack = createUnpack(registry);
  const own = type.nameOf(message);
  return makeResource(type, own, options, (name) => {
    try {
      const v3 = asV3(schema, message, unpack);
      return { body: toBinary(schema, v3), references: referencesOf(schema, v3, unpack) };
    } catch (cause) {
      // Without the cause: it holds the value, which may be a secret.
      const where = { type: type.name, resource: name };
      throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `cannot be serialized: ${withoutValue(reasonOf(cause))}`, where);
    }
  });
}

/** What a message says as a resource. */
export type Content = Pick<Resource, "body" | "references">;

/**
 * Makes a resource of what was made of its message.
 * @param own what the message calls itself
 * @throws XdskitError as `createResource` does, for what `options` say and for the name
 */
export function makeResource(
  type: ResourceType,
  own: ResourceName | undefined,
  options: ResourceOptions,
  contentOf: (name: ResourceName) => Content,
): Resource {
  const name = options.name ?? own;
  if (name === undefined || name === "") {
    throw XdskitError.of("XDSKIT_NAME_MISSING", "the resource has no name", { type: type.name });
  }
  refuseName(type, name);
  const { ttl } = options;
  if (ttl !== undefined && !(Number.isFinite(ttl) && ttl > 0)) {
    throw XdskitError.of("XDSKIT_TTL", `a TTL must be more than 0s, not ${ttl / 1000}s`, {
      type: type.name,
      resource: name,
    });
  }
  const aliases = options.aliases === undefined || options.aliases.length === 0 ? none : [...new Set(options.aliases)];
  const variant = options.constraints === undefined ? undefined : variantOf(options.constraints);
  const { body, references } = contentOf(name);
  const version = versionOf(body, aliases, ttl, variant?.text);
  return { type, name, key: keyOf(name, variant), version, body, aliases, variant, ttl, references };
}

/**
 * The same of a message with a name, of which nothing else is said: hundreds of thousands are made at a start.
 * @throws XdskitError for the name
 */
export function plainResource(
  type: ResourceType,
  name: ResourceName,
  body: Uint8Array,
  references: Resource["references"],
): Resource {
  refuseName(type, name);
  const version = versionOf(body, none, undefined);
  return {
    type,
    name,
    key: keyOf(name, undefined),
    version,
    body,
    aliases: none,
    variant: undefined,
    ttl: undefined,
    references,
  };
}

function refuseName(type: ResourceType, name: ResourceName): void {
  const problem = isFederated(name) ? nameProblem(name, type.typeUrl, ...(type.namedBelow ?? [])) : undefined;
  if (problem === undefined) return;
  throw XdskitError.of("XDSKIT_NAME_XDSTP", `${JSON.stringify(name)}: ${problem}`, {
    type: type.name,
    resource: name,
  });
}

function schemaFor(type: ResourceType, registry: Registry): DescMessage {
  // A type of one's own may come from a generated module, which no registry knows.
  const schema = schemaOf(type.typeUrl.slice(typeUrlPrefix.length), registry) ?? type.schema;
  if (schema === undefined) {
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type: type.typeUrl });
  }
  return schema;
}

/** `cannot encode field a.B.c to binary: invalid int32: 1.5` without what follows the last colon. */
function withoutValue(reason: string): string {
  return /^cannot encode field [\w.]+ to binary(: invalid \w+)?/.exec(reason)?.[0] ?? reason;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
