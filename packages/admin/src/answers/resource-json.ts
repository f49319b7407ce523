import type { Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { perObject, type Registry, type Resource, readableJson, redacted, wrapperJson, XdskitError } from "@xdskit/api";
import { receivedResource } from "@xdskit/protocol";

/** A resource as JSON without its secrets. */
export type ShowResource = (resource: Resource) => Readonly<Record<string, unknown>>;

/** The spelling of fields: `connectTimeout` as in JSON, or `connect_timeout` as in protos and most files. */
export type FieldNames = "json" | "proto";

const wrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/**
 * Shows resources as files hold them: in a wrapper if the message does not say everything. Kept as long as the resource
 * lives.
 */
export function createShowResource(registry: Registry, fieldNames: FieldNames = "json"): ShowResource {
  return perObject((resource) => show(resource, registry, fieldNames));
}

function show(resource: Resource, registry: Registry, fieldNames: FieldNames): Readonly<Record<string, unknown>> {
  const { type, name, aliases, ttl, variant } = resource;
  let message: Message;
  let json: Readonly<Record<string, unknown>>;
  try {
    ({ message } = receivedResource(resource, resource.version, { registry }));
    // Of an unknown type there are only bytes, which may hold secrets.
    json = isAny(message)
      ? { "@type": message.typeUrl, "@value": redacted }
      : readableJson(message, { registry, fieldNames });
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    return { "@type": type.typeUrl };
  }
  // Its constraints stand beside its name.
  if (variant !== undefined) return wrapperJson(resource, json, registry);
  const isBare = aliases.length === 0 && ttl === undefined && (type.anyContent || type.nameOf(message) === name);
  if (isBare) return json;
  return {
    "@type": wrapperUrl,
    name,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(ttl === undefined ? {} : { ttl: `${ttl / 1_000}s` }),
    resource: json,
  };
}

function isAny(message: Message): message is Any {
  return message.$typeName === "google.protobuf.Any";
}
