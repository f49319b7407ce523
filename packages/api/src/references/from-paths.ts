import { create, type DescField, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { createUnpack, schemaOf } from "../any.js";
import { XdskitError } from "../errors.js";
import { typeUrlPrefix } from "../identifiers.js";
import { fieldValue, withField } from "../message-plan.js";
import { envoyRegistry, type Registry } from "../registry.js";
import { createResource, type Resource } from "../resource.js";
import type { Reference } from "../resource-types/resource-type.js";
import { createRewrite } from "../rewrite.js";
import { canonicalName } from "../xdstp.js";
import { type Fields, isDynamic, url } from "./rules.js";

/** Where a client finds what a resource names: the path of a file; undefined where that is to stay as it is. */
export type PathOf = (reference: Reference) => string | undefined;

/** Where a message says what it names, and where that is to be had. */
interface Source {
  /** The way to the field with the source. */
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
 * Makes resources say that what they name is to be had from files: for clients that take their configuration from a folder. Each keeps its name and its aliases,
 * and loses its TTL, since nobody is there to say in time that it lives. Costs a copy of what differs; what names nothing stays as it is.
 *
 * A file holds one resource for each of these, but for scoped routes, all of which (`*`) are in one. Virtual hosts (VHDS) and the members of a locality (LEDS) come by
 * delta only, so that no file can take their place. Throws as `createResource` does.
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

/** Messages with a name and the source of an extension's configuration: filters of listeners, of HTTP and of clusters. */
function* holdersOfExtensions(registry: Registry): Iterable<string> {
  for (const type of registry) {
    if (type.kind !== "message" || fieldNamed(type, "name") === undefined) continue;
    const field = fieldNamed(type, "config_discovery");
    if (field?.message?.typeName === "envoy.config.core.v3.ExtensionConfigSource") yield type.typeName;
  }
}
