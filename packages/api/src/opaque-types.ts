import type { Message, Registry } from "@bufbuild/protobuf";
import { typeNameOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { type TypeUrl, typeUrlPrefix } from "./identifiers.js";
import { envoyRegistry } from "./registry.js";
import { createResourceTypes } from "./resource-types/create-resource-types.js";
import type { ResourceType, ResourceTypes } from "./resource-types/resource-type.js";
import { lookedUp, resourceTypes, unknownResourceType } from "./resource-types/resource-types.js";

/**
 * The table of types with types that somebody names by their URLs, as a client asks for them: those that are no resources of Envoy's API have no service of their own
 * (ADS serves them). Of a URL that is not that of a message which the registry has nothing but the URL is known; it is asked for as it is, and what comes may be anything.
 * Throws XDSKIT_TYPE_NAME_UNKNOWN for what is no URL.
 */
export function typesByUrl(
  urls: readonly TypeUrl[],
  registry: Registry = envoyRegistry(),
  types: ResourceTypes = resourceTypes,
): ResourceTypes {
  let known = types;
  for (const url of urls) known = withType(url, registry, known);
  return known;
}

function withType(url: TypeUrl, registry: Registry, types: ResourceTypes): ResourceTypes {
  if (types.byTypeUrl(url) !== undefined) return types;
  if (!/^[^/\s][^\s]*\/[^/\s]+$/.test(url)) {
    const message = `${JSON.stringify(url)} is not the URL of a type, such as ${typeUrlPrefix} and the full name of a message`;
    throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", message);
  }
  const name = typeNameOf(url);
  const schema = url === `${typeUrlPrefix}${name}` ? registry.getMessage(name) : undefined;
  if (schema !== undefined) return createResourceTypes([{ schema, name: url }], types);
  const type: ResourceType = { ...unknownResourceType(url), anyContent: true, nameOf: nameOfAny };
  return lookedUp([...types.all, type]);
}

/** What a message calls itself, whatever it is; what is told of a node is called by its id. */
function nameOfAny(message: Message): string | undefined {
  const { name, clusterName, node, id } = message as Message & { readonly [field: string]: unknown };
  return [name, clusterName, (node as { readonly id?: unknown } | undefined)?.id, id].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
}
