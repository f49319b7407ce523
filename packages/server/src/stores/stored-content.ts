import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  constraintsOf,
  type Registry,
  type Resource,
  type ResourceTypes,
  resourceFromBody,
  XdskitError,
} from "@xdskit/api";
import { DynamicParameterConstraintsSchema, ResourceSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { StoredResource } from "../contracts/store.js";

/** A resource as stores keep it. It is serialized only where a store does not have its content. */
export function encodeStored(resource: Resource): StoredResource {
  return {
    type: resource.type.typeUrl,
    key: resource.key,
    version: resource.version,
    get bytes() {
      return wrapped(resource);
    },
  };
}

/** A serialized `envoy.service.discovery.v3.Resource`. */
function wrapped({ type, name, body, aliases, variant, ttl }: Resource): Uint8Array {
  const constraints = variant && fromBinary(DynamicParameterConstraintsSchema, variant.body);
  const wrapper = create(ResourceSchema, {
    ...(constraints === undefined ? { name } : { resourceName: { name, dynamicParameterConstraints: constraints } }),
    aliases: [...aliases],
    resource: { typeUrl: type.typeUrl, value: body },
    ...(ttl === undefined ? {} : { ttl: durationOf(ttl) }),
  });
  return toBinary(ResourceSchema, wrapper);
}

/**
 * Reads what `encodeStored` made. Its rules are not checked again: it was served before. Throws XDSKIT_TYPE_UNKNOWN for
 * a type that is not known any more, and as `resourceFromBody` does.
 */
export function decodeStored(
  { type: typeUrl, key, bytes }: StoredResource,
  { types, registry }: { readonly types: ResourceTypes; readonly registry: Registry },
): Resource {
  const found = types.byTypeUrl(typeUrl);
  if (found === undefined) {
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are no resources", {
      type: typeUrl,
      resource: key,
    });
  }
  const { name: plain, resourceName, aliases, resource, ttl } = fromBinary(ResourceSchema, bytes);
  const constraints = resourceName?.dynamicParameterConstraints;
  return resourceFromBody(found.type, resource?.value ?? new Uint8Array(), {
    name: resourceName?.name ?? plain,
    aliases,
    ttl: ttl === undefined ? undefined : Number(ttl.seconds) * 1_000 + ttl.nanos / 1e6,
    constraints: constraints === undefined ? undefined : constraintsOf(constraints),
    types,
    registry,
  });
}

function durationOf(ms: number) {
  const seconds = Math.floor(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1e6) };
}
