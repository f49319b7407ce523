import type { Message, Registry } from "@bufbuild/protobuf";
import { XdskitError } from "../errors/errors.js";
import { type TypeUrl, typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import { envoyRegistry } from "../registry/registry.js";
import { createResourceTypes } from "./create-resource-types.js";
import type { ResourceType, ResourceTypes } from "./resource-type.js";
import { lookedUp, resourceTypes, unknownResourceType } from "./resource-types.js";

/**
 * The table of types plus types that a client names by URL. If they are not part of Envoy's API, they have no own
 * service (ADS serves them). If the registry does not know the URL's message, only the URL is known: it is requested as
 * it is, and responses may contain anything. Throws XDSKIT_TYPE_NAME_UNKNOWN for anything that is not a URL.
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

/** The own name of any message. A message about a node has the node's ID as its name. */
function nameOfAny(message: Message): string | undefined {
  const { name, clusterName, node, id } = message as Message & { readonly [field: string]: unknown };
  return [name, clusterName, (node as { readonly id?: unknown } | undefined)?.id, id].find(
    (text): text is string => typeof text === "string" && text !== "",
  );
}
