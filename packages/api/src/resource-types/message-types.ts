import { ownFilesOf, type Registry } from "../registry/registry.js";
import { createResourceTypes, type OwnResourceType, typeOfOptions, urlOf } from "./create-resource-types.js";
import type { ResourceTypes } from "./resource-type.js";
import { lookedUp, resourceTypes } from "./resource-types.js";

/**
 * A table of types with every message of a user's descriptor sets, so that each can be a resource. Its name is its full
 * name (`istio.workload.Address`). Resources take their name from the field `name`, if it is a string, or from the
 * `envoy.service.discovery.v3.Resource` around them. A first request without names asks for all. `definitions` override
 * this for some types. Throws XDSKIT_TYPE_DEFINITION as `createResourceTypes` does. Without either, it is `base`
 * itself.
 */
export function typesOfMessages(
  registry: Registry,
  definitions: readonly OwnResourceType[] = [],
  base: ResourceTypes = resourceTypes,
): ResourceTypes {
  const defined = definitions.length === 0 ? base : createResourceTypes(definitions, base);
  const last = defined.all.at(-1)?.deliveryOrder ?? 0;
  const own = ownFilesOf(registry).flatMap(({ messages }) => messages);
  const more = own
    .filter((schema) => defined.byTypeUrl(urlOf(schema)) === undefined && defined.find(schema.typeName) === undefined)
    .map((schema, index) => typeOfOptions({ schema, name: schema.typeName, wildcard: true }, last + 1 + index));
  return more.length === 0 ? defined : lookedUp([...defined.all, ...more]);
}
