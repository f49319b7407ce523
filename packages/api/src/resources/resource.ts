import { type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { XdskitError } from "../errors/errors.js";
import { messageOf } from "../errors/findings.js";
import { createUnpack } from "../messages/any.js";
import { schemaOf } from "../messages/v2-names.js";
import { withSmallHost } from "../names/host-names.js";
import { type ResourceName, type TypeUrl, typeUrlPrefix, type Version } from "../names/identifiers.js";
import { isFederated, nameProblem } from "../names/xdstp.js";
import type { Reference } from "../references/reference.js";
import { referencesOf } from "../references/references.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { ResourceType, ResourceTypes } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { asV3 } from "../v2/upgrade.js";
import { type Constraints, keyOf, type Variant, variantOf } from "./variant.js";
import { versionOf } from "./version.js";

/**
 * One named resource, read and checked once and never decoded again for a stream. It is immutable and shared by all
 * snapshots, groups and streams.
 */
export interface Resource {
  readonly type: ResourceType;
  readonly name: ResourceName;
  /**
   * Its key, unique within its type: the canonical name, plus the constraints of a variant. Usually the same as the
   * name.
   */
  readonly key: ResourceName;
  /**
   * A hash of the content: body, aliases and TTL. Equal content has an equal version on every server and after every
   * restart (rule 82).
   */
  readonly version: Version;
  /** The v3 message, serialized deterministically: map entries are sorted, also inside known `Any`s. */
  readonly body: Uint8Array;
  readonly aliases: readonly ResourceName[];
  /** Set if it is one of several variants of its name, for clients with certain dynamic parameters. */
  readonly variant: Variant | undefined;
  /** Time to live in milliseconds; undefined means forever. */
  readonly ttl: number | undefined;
  readonly references: readonly Reference[];
}

/** A resource as one version of the API puts it into an `Any`. */
export interface EncodedResource {
  readonly typeUrl: TypeUrl;
  readonly value: Uint8Array;
}

/** Options of `createResource`, and facts that the message itself cannot hold. */
export interface ResourceOptions {
  /** Resolves the content of `Any`s. Default: Envoy's messages. */
  readonly registry?: Registry | undefined;
  /** Default: the built-in table. */
  readonly types?: ResourceTypes | undefined;
  /**
   * Replaces the message's own name. Types without a name (LEDS) and virtual hosts (`<route configuration>/<host>`)
   * need it.
   */
  readonly name?: ResourceName | undefined;
  readonly aliases?: readonly ResourceName[] | undefined;
  /** Time to live in milliseconds. */
  readonly ttl?: number | undefined;
  /** Makes it a variant of its name, for clients whose dynamic parameters satisfy the constraints. */
  readonly constraints?: Constraints | undefined;
}

/**
 * Makes a resource from a message, which may come from the generated modules or from a registry, and may be of v2 or
 * contain messages of v2. The message is not changed, and may be changed afterwards. Its fields are not validated: see
 * `validateMessage`.
 *
 * Throws XDSKIT_TYPE_UNKNOWN if its type is not a resource type, XDSKIT_NAME_MISSING if it has no name,
 * XDSKIT_NAME_XDSTP if its name begins with `xdstp:` and is not valid for its type, XDSKIT_TTL if the TTL is not above
 * 0, XDSKIT_CONSTRAINTS if there are too many constraints, and XDSKIT_MESSAGE_INVALID if a field's value does not fit
 * its type.
 *
 * @example
 * ```ts
 * import { createResource } from "@xdskit/api";
 * import { loadAssignment } from "@xdskit/api/builders";
 *
 * const perishable = createResource(loadAssignment({ clusterName: "web" }), { ttl: 30_000 });
 * console.log(perishable.name, perishable.version);
 * ```
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
 * Makes a resource from a serialized v3 message. Throws as `createResource` does, and XDSKIT_SYNTAX if the bytes are
 * malformed.
 */
export function resourceFromBody(type: ResourceType, body: Uint8Array, options: ResourceOptions = {}): Resource {
  const schema = schemaFor(type, options.registry ?? envoyRegistry());
  let message: Message;
  try {
    message = fromBinary(schema, body);
  } catch (cause) {
    const where = { type: type.name, resource: options.name };
    throw XdskitError.of("XDSKIT_SYNTAX", `not a serialized ${schema.typeName}: ${messageOf(cause)}`, where, { cause });
  }
  return build(type, message, options);
}

/** Shared by all resources without any. */
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
      // Without the cause: it contains the value, which may be a secret.
      const where = { type: type.name, resource: name };
      throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `cannot be serialized: ${withoutValue(messageOf(cause))}`, where);
    }
  });
}

/** The part of a resource that comes from its message. */
export type DerivedContent = Pick<Resource, "body" | "references">;

/**
 * Makes a resource from content that was derived from its message.
 * @param own the message's own name
 * @throws XdskitError as `createResource` does, for the options and the name
 */
export function makeResource(
  type: ResourceType,
  own: ResourceName | undefined,
  options: ResourceOptions,
  contentOf: (name: ResourceName) => DerivedContent,
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
  const aliases = aliasesOf(type, name, options.aliases ?? none);
  const variant = options.constraints === undefined ? undefined : variantOf(options.constraints);
  const { body, references } = contentOf(name);
  const version = versionOf(body, aliases, ttl, variant?.text);
  return { type, name, key: keyOf(name, variant), version, body, aliases, variant, ttl, references };
}

/**
 * Envoy asks for a virtual host with the host of the request in small letters, and hosts are equal in any case: one
 * that is written otherwise has that name as well.
 */
function aliasesOf(
  { namedBelow }: ResourceType,
  name: ResourceName,
  given: readonly ResourceName[],
): readonly ResourceName[] {
  const aliases = new Set(given);
  if (namedBelow !== undefined && !isFederated(name)) {
    for (const one of [name, ...given]) {
      const small = withSmallHost(one);
      if (small !== name) aliases.add(small);
    }
  }
  return aliases.size === 0 ? none : [...aliases];
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
  // A user's own type may come from a generated module that is in no registry.
  const schema = schemaOf(type.typeUrl.slice(typeUrlPrefix.length), registry) ?? type.schema;
  if (schema === undefined) {
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type: type.typeUrl });
  }
  return schema;
}

/** `cannot encode field a.B.c to binary: invalid int32: 1.5` without the last part. */
function withoutValue(reason: string): string {
  return /^cannot encode field [\w.]+ to binary(: invalid \w+)?/.exec(reason)?.[0] ?? reason;
}
