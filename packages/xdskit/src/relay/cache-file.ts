import { type DescMessage, fromBinary, fromJson, type JsonObject, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import {
  createResourceJson,
  envoyRegistry,
  type Registry,
  resourceFromBody,
  type ResourceType,
  typeUrlPrefix,
  type Version,
} from "@xdskit/api";
import { DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { ReceivedResource } from "@xdskit/protocol";
import { responseText, wrapped } from "../files/resource-text.js";

/** What a file of the cache holds. */
export interface CachedType {
  readonly type: ResourceType;
  readonly resources: readonly ReceivedResource[];
  /** The set's, of the origin. */
  readonly version: Version;
}

/** Writes resources as a file of the cache: a `DiscoveryResponse` of wrappers with the origin's versions. */
export function createCacheText(registry: Registry | undefined): (cached: CachedType) => string {
  const json = createResourceJson(registry);
  const texts = new WeakMap<ReceivedResource, string>();

  function textOf(received: ReceivedResource): string | undefined {
    const known = texts.get(received);
    if (known !== undefined) return known;
    let bare: string;
    try {
      bare = Buffer.from(json(received.resource(), "v3")).toString();
    } catch {
      // Such as an extension that only the clients know: it comes again after a restart.
      return undefined;
    }
    const { name, version, aliases, ttl } = received;
    // For people to read.
    const text = JSON.stringify(JSON.parse(wrapped({ name, version, aliases, ttl }, bare)), undefined, 1);
    texts.set(received, text);
    return text;
  }

  return ({ resources, version }) => {
    const written = resources.map(textOf);
    const isWhole = written.every((text) => text !== undefined);
    // A set that lacks something is not the one of that version.
    return responseText(isWhole ? version : "", written.filter((text) => text !== undefined));
  };
}

/**
 * Reads a file of the cache. Throws where it is none, or holds something that cannot be read. `isSame`: by the origin whose versions it has; without that nothing is
 * known of versions.
 */
export function readCacheText(text: string, type: ResourceType, isSame: boolean, registry: Registry = envoyRegistry()): CachedType {
  const response = fromJson(DiscoveryResponseSchema, JSON.parse(text) as JsonValue, { registry });
  const schema = registry.getMessage(type.typeUrl.slice(typeUrlPrefix.length)) ?? type.schema;
  if (schema === undefined) throw new Error(`messages of type ${type.typeUrl} are not known`);
  const resources = response.resources.map((any) => {
    const { name, version, aliases, ttl, resource } = fromBinary(ResourceSchema, contentOf(any, ResourceSchema));
    const value = contentOf(resource, schema);
    return receivedOf(type, schema, {
      ...{ name, aliases, value, version: isSame ? version : "" },
      ttl: ttl === undefined ? undefined : Number(ttl.seconds) * 1_000 + ttl.nanos / 1e6,
    }, registry);
  });
  return { type, resources, version: isSame ? response.versionInfo : "" };
}

function contentOf(any: Any | undefined, schema: DescMessage): Uint8Array {
  if (any?.typeUrl === `${typeUrlPrefix}${schema.typeName}`) return any.value;
  throw new Error(`expected a ${schema.typeName}, found ${JSON.stringify(any?.typeUrl ?? "nothing")}`);
}

type Parts = Pick<ReceivedResource, "name" | "version" | "aliases" | "ttl" | "value">;

/** As if a server had sent it. */
function receivedOf(type: ResourceType, schema: DescMessage, parts: Parts, registry: Registry): ReceivedResource {
  let made: ReturnType<ReceivedResource["resource"]> | undefined;
  const { name, aliases, ttl, value } = parts;
  return {
    ...parts,
    ...{ type, typeUrl: type.typeUrl, message: fromBinary(schema, value) },
    resource() {
      made ??= resourceFromBody(type, value, { registry, name, aliases, ttl });
      return made;
    },
  };
}
