import {
  type Registry,
  type Resource,
  type ResourceTypes,
  unwrapResource,
  wrapResource,
  XdskitError,
} from "@xdskit/api";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerCommit, Revision, StoredKey, StoredResource } from "../../contracts/stores/store.js";

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

/** Keeps what an update changes, on top of the head that the writer knows. */
export function commitOf({ layer, kind, upsert, remove }: LayerUpdate, head: Revision | undefined): LayerCommit {
  return {
    layer,
    kind,
    parent: head?.id,
    upsert: upsert.map(encodeStored),
    remove: remove?.map(({ type, name }) => ({ type: type.typeUrl, key: name })),
  };
}

/** The resources with these keys; without those whose type the server does not know: it has none of them. */
export function resourcesNamed(keys: readonly StoredKey[], types: ResourceTypes): NonNullable<LayerUpdate["remove"]> {
  return keys.flatMap(({ type: typeUrl, key: name }) => {
    const type = types.byTypeUrl(typeUrl)?.type;
    return type === undefined ? [] : [{ type, name }];
  });
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
