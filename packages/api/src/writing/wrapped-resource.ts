import { create, type DescMessage, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import { schemaOf } from "../messages/v2-names.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { type Resource, type ResourceOptions, resourceFromBody } from "../resources/resource.js";
import type { Variant } from "../resources/variant.js";
import { wrapperName, wrappingOf } from "../resources/wrapping.js";

/** A resource with the facts that its message does not hold: a serialized `envoy.service.discovery.v3.Resource`. */
export function wrapResource(resource: Resource, registry: Registry = envoyRegistry()): Uint8Array {
  const { type, name, body, aliases, ttl, variant } = resource;
  const schema = schemaNamed(wrapperName, registry);
  const wrapper = create(schema, {
    ...(variant === undefined ? { name } : { resourceName: resourceName(name, variant, registry) }),
    aliases: [...aliases],
    resource: { typeUrl: type.typeUrl, value: body },
    ttl: ttl === undefined ? undefined : durationOf(ttl),
  } as Record<string, unknown>);
  return toBinary(schema, wrapper);
}

/** Reads the bytes that `wrapResource` made of a resource of this type. Throws as `resourceFromBody` does. */
export function unwrapResource(
  type: ResourceType,
  bytes: Uint8Array,
  options: Pick<ResourceOptions, "registry" | "types"> = {},
): Resource {
  const wrapper = fromBinary(schemaNamed(wrapperName, options.registry ?? envoyRegistry()), bytes);
  const { problem: _, ...wrapping } = wrappingOf(wrapper);
  const { resource } = wrapper as { readonly resource?: { readonly value: Uint8Array } };
  return resourceFromBody(type, resource?.value ?? new Uint8Array(), { ...wrapping, ...options });
}

function resourceName(name: string, { body }: Variant, registry: Registry): Message {
  const schema = schemaNamed("envoy.service.discovery.v3.ResourceName", registry);
  const constraints = fromBinary(schemaNamed("envoy.service.discovery.v3.DynamicParameterConstraints", registry), body);
  return create(schema, { name, dynamicParameterConstraints: constraints } as Record<string, unknown>);
}

function durationOf(millis: number): Duration {
  const seconds = Math.trunc(millis / 1000);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos: Math.round((millis - seconds * 1000) * 1e6) });
}

/** Throws XDSKIT_TYPE_UNKNOWN if the registry lacks the type. */
export function schemaNamed(typeName: string, registry: Registry): DescMessage {
  const schema = schemaOf(typeName, registry);
  if (schema === undefined) throw typeUnknown(typeName);
  return schema;
}

export function typeUnknown(type: string): XdskitError {
  return XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type });
}
