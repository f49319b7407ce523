import {
  type Registry,
  type Resource,
  type ResourceTypes,
  unwrapResource,
  wrapResource,
  XdskitError,
} from "@xdskit/api";
import type { StoredResource } from "../../contracts/store.js";

/** A resource as stores keep it. It is serialized only where a store does not have its content. */
export function encodeStored(resource: Resource): StoredResource {
  return {
    type: resource.type.typeUrl,
    key: resource.key,
    version: resource.version,
    get bytes() {
      return wrapResource(resource);
    },
  };
}

/**
 * Reads what `encodeStored` made. Its rules are not checked again: it was served before. Throws XDSKIT_TYPE_UNKNOWN for
 * a type that is not known any more, and as `resourceFromBody` does.
 */
export function decodeStored(
  { type: typeUrl, key, bytes }: StoredResource,
  reading: { readonly types: ResourceTypes; readonly registry: Registry },
): Resource {
  const found = reading.types.byTypeUrl(typeUrl);
  if (found === undefined) {
    const where = { type: typeUrl, resource: key };
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are no resources", where);
  }
  return unwrapResource(found.type, bytes, reading);
}
