import type { DescMessage, Registry } from "@bufbuild/protobuf";
import { envoyRegistry } from "../registry/registry.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { createMessageSchemas } from "./message-schema.js";
import type { JsonSchema } from "./well-known.js";

/** What `resourceSchema` and `fileSchema` read instead of Envoy's own messages. */
export interface SchemaOptions {
  /** Default: `envoyRegistry()`. */
  readonly registry?: Registry;
  /** Default: the types of Envoy. */
  readonly types?: Iterable<ResourceType>;
}

/** Editors read this version of JSON Schema. */
const $schema = "http://json-schema.org/draft-07/schema#";

/**
 * The JSON Schema (draft-07) of one resource type, as a resource stands in a file: field names as in Envoy's
 * documentation, whose words are the descriptions; the lowerCamelCase spelling passes too. What an `Any` may hold is
 * what Envoy's protos say of its place. It is a help while one writes: only `xdskit validate` knows all rules.
 */
export function resourceSchema(message: DescMessage, { registry = envoyRegistry() }: SchemaOptions = {}): JsonSchema {
  const schemas = createMessageSchemas(registry);
  const schema = schemas.of(message);
  return { $schema, title: message.typeName, ...schema, definitions: schemas.definitions() };
}

/**
 * The JSON Schema of a file of resources: one resource, a list of them, or a `DiscoveryResponse`; each may be wrapped
 * in an `envoy.service.discovery.v3.Resource`.
 */
export function fileSchema({ registry = envoyRegistry(), types = resourceTypes }: SchemaOptions = {}): JsonSchema {
  const one = { $ref: "#/definitions/resource" };
  const schemas = createMessageSchemas(registry, one);
  const named = (name: string) => registry.getMessage(`envoy.service.discovery.v3.${name}`) ?? [];
  const resources = [...types].flatMap(({ schema }) => schema ?? []);
  const resource = schemas.anyOf([...resources, named("Resource")].flat());
  const [response] = [named("DiscoveryResponse")].flat().map(schemas.of);
  const isResponse = { type: "object", required: ["resources"] };
  return {
    $schema,
    title: "A file of xDS resources",
    if: { type: "array" },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    then: { items: one },
    // biome-ignore lint/suspicious/noThenProperty: this is the keyword of JSON Schema.
    else: response === undefined ? one : { if: isResponse, then: response, else: one },
    definitions: { resource, ...schemas.definitions() },
  };
}
