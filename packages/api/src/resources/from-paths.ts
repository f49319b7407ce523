import { create, type DescField, type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { XdskitError } from "../errors/errors.js";
import { createUnpack } from "../messages/any.js";
import { createRewrite } from "../messages/rewrite.js";
import { schemaOf } from "../messages/v2-names.js";
import { fieldValue, withField } from "../messages/walk-plan.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { canonicalName } from "../names/xdstp.js";
import type { Reference } from "../references/reference.js";
import { configSourceField, type MessageFields, referenceRule, url } from "../references/rules.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import { createResource, type Resource } from "./resource.js";

/** The place where a client finds a named resource: a file's path, or undefined to leave the source unchanged. */
export type PathOf = (reference: Reference) => string | undefined;

/** The steps to the field with the source of a named resource. */
type SourceField = readonly [string, ...string[]];

const sourceFields: { readonly [typeName: string]: SourceField } = {
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds": ["config_source"],
  "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds": ["scoped_rds_config_source"],
  "envoy.config.cluster.v3.Cluster": ["eds_cluster_config", "eds_config"],
  "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig": ["sds_config"],
};

/**
 * Changes resources so that clients take the resources that these name from files. Each resource keeps its name and
 * aliases, and loses its TTL, since nothing would refresh it. Copies only the parts that differ; a resource that names
 * nothing stays the same.
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

  function moved(message: Message, fields: SourceField): Message {
    const schema = schemaOf(message.$typeName, registry);
    const named = schema && referenceIn(schema, message);
    const path = named && pathOf(named);
    return schema === undefined || path === undefined ? message : put(schema, message, fields, path);
  }

  function put(schema: DescMessage, message: Message, [name, ...below]: SourceField, path: string): Message {
    const field = fieldNamed(schema, name);
    const value = field && (fieldValue(message, field) as Message | undefined);
    if (field?.message === undefined || value === undefined) return message;
    const [next, ...rest] = below;
    if (next !== undefined) return withField(message, field, put(field.message, value, [next, ...rest], path));
    const specifier = {
      case: "pathConfigSource",
      value: create(pathSource as DescMessage, { path } as Record<string, unknown>),
    };
    return withField(message, field, { ...value, configSourceSpecifier: specifier, resourceApiVersion: versionThree });
  }

  const change = new Map<string, (message: Message) => Message>();
  for (const [typeName, fields] of Object.entries(sourceFields))
    change.set(typeName, (message) => moved(message, fields));
  for (const type of registry) {
    const field = type.kind === "message" ? configSourceField(type) : undefined;
    if (field !== undefined) change.set(type.typeName, (message) => moved(message, [field.name, "config_source"]));
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

/** The resources that a message itself names, over xDS. */
function referenceIn(schema: DescMessage, message: Message): Reference | undefined {
  let found: Reference | undefined;
  referenceRule(schema)?.(message as Message & MessageFields, (type, name) => {
    // All scoped routes are in one file.
    if (type === url.scopedRoute) found = { type, name: "*" };
    else if (typeof name === "string" && name !== "") found = { type, name: canonicalName(name) };
  });
  return found;
}

function fieldNamed(schema: DescMessage, name: string): DescField | undefined {
  return schema.fields.find((field) => field.name === name);
}
