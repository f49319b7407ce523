import { create, type DescField, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { XdskitError } from "../errors/errors.js";
import { createUnpack, schemaOf } from "../messages/any.js";
import { createRewrite } from "../messages/rewrite.js";
import { fieldValue, withField } from "../messages/walk-plan.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { canonicalName } from "../names/xdstp.js";
import type { Reference } from "../references/reference.js";
import { type Fields, isDynamic, url } from "../references/rules.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import { createResource, type Resource } from "./resource.js";

/** Where a client finds what a resource names: a file's path, or undefined to leave the source unchanged. */
export type PathOf = (reference: Reference) => string | undefined;

/** What a message names, and where the client gets it. */
interface Source {
  /** The steps to the field with the source. */
  readonly fields: readonly [string, ...string[]];
  readonly reference: (message: Fields) => Reference | undefined;
}

const sources: { readonly [typeName: string]: Source } = {
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds": {
    fields: ["config_source"],
    reference: (rds) => referenceTo(url.route, rds.routeConfigName),
  },
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds": {
    fields: ["scoped_rds_config_source"],
    reference: () => ({ type: url.scopedRoute, name: "*" }),
  },
  "envoy.config.cluster.v3.Cluster": {
    fields: ["eds_cluster_config", "eds_config"],
    reference: ({ name, edsClusterConfig }) =>
      referenceTo(url.endpoint, (edsClusterConfig as Fields | undefined)?.serviceName || name),
  },
  "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig": {
    fields: ["sds_config"],
    reference: ({ name }) => referenceTo(url.secret, name),
  },
};

/**
 * Changes resources so that clients take what they name from files. Each resource keeps its name and aliases, and loses
 * its TTL, since nothing would refresh it. Copies only what differs; a resource that names nothing stays the same.
 *
 * Each file holds one resource, except for scoped routes, which are all (`*`) in one file. Virtual hosts (VHDS) and
 * locality endpoints (LEDS) exist only over delta xDS, so files cannot replace them. Throws as `createResource` does.
 */
export function createFromPaths(
  pathOf: PathOf,
  registry: Registry = envoyRegistry(),
): (resource: Resource) => Resource {
  const configSource = registry.getMessage("envoy.config.core.v3.ConfigSource");
  const pathSource = registry.getMessage("envoy.config.core.v3.PathConfigSource");
  if (configSource === undefined || pathSource === undefined) {
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type: "ConfigSource" });
  }

  function moved(message: Message, { fields, reference }: Source): Message {
    const schema = schemaOf(message.$typeName, registry);
    const named = reference(message as Message & Fields);
    const path = named && pathOf(named);
    return schema === undefined || path === undefined ? message : put(schema, message, fields, path);
  }

  function put(schema: DescMessage, message: Message, [name, ...below]: Source["fields"], path: string): Message {
    const field = fieldNamed(schema, name);
    const value = field && (fieldValue(message, field) as Message | undefined);
    if (field?.message === undefined || value === undefined) return message;
    const [next, ...rest] = below;
    if (next !== undefined) return withField(message, field, put(field.message, value, [next, ...rest], path));
    if (!isDynamic(value)) return message;
    const specifier = {
      case: "pathConfigSource",
      value: create(pathSource as DescMessage, { path } as Record<string, unknown>),
    };
    return withField(message, field, { ...value, configSourceSpecifier: specifier, resourceApiVersion: versionThree });
  }

  const change = new Map<string, (message: Message) => Message>();
  for (const [typeName, source] of Object.entries(sources)) change.set(typeName, (message) => moved(message, source));
  for (const typeName of holdersOfExtensions(registry)) {
    const fields = ["config_discovery", "config_source"] as const;
    const source: Source = { fields, reference: ({ name }) => referenceTo(url.extensionConfig, name) };
    change.set(typeName, (message) => moved(message, source));
  }
  const rewrite = createRewrite({ nameOf: (schema) => schema.typeName, change });

  return (resource) => {
    const { type, body, name, aliases, ttl, references } = resource;
    if (ttl === undefined && references.length === 0) return resource;
    const schema = schemaOf(type.typeUrl.slice(typeUrlPrefix.length), registry) ?? type.schema;
    if (schema === undefined) return resource;
    const message = rewrite(schema, fromBinary(schema, body), createUnpack(registry));
    return createResource(message, { registry, name, aliases });
  };
}

/** `envoy.config.core.v3.ApiVersion.V3`. */
const versionThree = 2;

function referenceTo(type: Reference["type"], name: unknown): Reference | undefined {
  return typeof name === "string" && name !== "" ? { type, name: canonicalName(name) } : undefined;
}

function fieldNamed(schema: DescMessage, name: string): DescField | undefined {
  return schema.fields.find((field) => field.name === name);
}

/** Messages with a name and an extension config source: filters of listeners, of HTTP and of clusters. */
function* holdersOfExtensions(registry: Registry): Iterable<string> {
  for (const type of registry) {
    if (type.kind !== "message" || fieldNamed(type, "name") === undefined) continue;
    const field = fieldNamed(type, "config_discovery");
    if (field?.message?.typeName === "envoy.config.core.v3.ExtensionConfigSource") yield type.typeName;
  }
}
