import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  type Registry,
  createRegistry as registryOf,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { typeNameOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { type TypeUrl, typeUrlPrefix } from "./identifiers.js";
import { envoyRegistry } from "./registry.js";
import { createResourceTypes } from "./resource-types/create-resource-types.js";
import type { ResourceTypes } from "./resource-types/resource-type.js";
import { resourceTypes } from "./resource-types/resource-types.js";

/** Types and messages that a client asks with. */
export interface TypesAndMessages {
  readonly types: ResourceTypes;
  readonly registry: Registry;
}

/**
 * The table of types, and the registry, with types that somebody names by their URLs: those that are no resources of Envoy's API have no service of their own (ADS
 * serves them). Of a message that the registry lacks nothing but the name is known, and all that is in it is unknown fields; a server names its resources in the
 * `Resource` around them. Throws XDSKIT_TYPE_NAME_UNKNOWN for what is no type URL.
 */
export function typesByUrl(
  urls: readonly TypeUrl[],
  registry: Registry = envoyRegistry(),
  types: ResourceTypes = resourceTypes,
): TypesAndMessages {
  let known: TypesAndMessages = { types, registry };
  for (const url of urls) known = withType(url, known);
  return known;
}

function withType(url: TypeUrl, { types, registry }: TypesAndMessages): TypesAndMessages {
  if (types.byTypeUrl(url) !== undefined) return { types, registry };
  const name = typeNameOf(url);
  const file = url === `${typeUrlPrefix}${name}` ? opaqueFile(name) : undefined;
  if (file === undefined) {
    const message = `${JSON.stringify(url)} is not the URL of a type: ${typeUrlPrefix} and the full name of a message`;
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", message);
  }
  const found = registry.getMessage(name);
  const schema = found ?? messageOf(file, name);
  return {
    types: createResourceTypes([{ schema, name: url }], types),
    registry: found === undefined ? registryOf(registry, file) : registry,
  };
}

/** A message of which only the name is known: all that is in it is an unknown field. Undefined where that is no name. */
export function opaqueSchema(typeName: string): DescMessage | undefined {
  const file = opaqueFile(typeName);
  return file === undefined ? undefined : messageOf(file, typeName);
}

function messageOf(file: FileRegistry, typeName: string): DescMessage {
  const schema = file.getMessage(typeName);
  if (schema === undefined) throw new Error(`${typeName} is not in the file that was made for it`);
  return schema;
}

function opaqueFile(typeName: string): FileRegistry | undefined {
  if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(typeName)) return undefined;
  const dot = typeName.lastIndexOf(".");
  const file = create(FileDescriptorProtoSchema, {
    name: `opaque/${typeName}.proto`,
    package: dot < 0 ? "" : typeName.slice(0, dot),
    messageType: [{ name: typeName.slice(dot + 1) }],
    syntax: "proto3",
  });
  return createFileRegistry(file, () => undefined);
}
