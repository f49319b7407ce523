import { fromBinary } from "@bufbuild/protobuf";
import { formatFieldPath } from "../errors/field-path.js";
import { createUnpack } from "../messages/any.js";
import { schemaOf } from "../messages/v2-names.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import type { Reference } from "../references/reference.js";
import { stepsToReference } from "../references/references.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { Resource } from "./resource.js";

/**
 * The first field of a resource that names another one, such as `virtual_hosts[0].routes[0].route.cluster`; undefined
 * if none does. It reads the resource's body.
 */
export function fieldNaming(
  { type, body }: Pick<Resource, "type" | "body">,
  reference: Reference,
  registry: Registry = envoyRegistry(),
): string | undefined {
  const schema = schemaOf(type.typeUrl.slice(typeUrlPrefix.length), registry) ?? type.schema;
  if (schema === undefined) return undefined;
  return formatFieldPath(stepsToReference(schema, fromBinary(schema, body), createUnpack(registry), reference));
}
