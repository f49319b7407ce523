import {
  create,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { toText } from "@bufbuild/protobuf/txtpb";
import { type Any, AnySchema, anyPack, type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";
import { stringify } from "yaml";
import { schemaOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { envoyRegistry, type Registry } from "./registry.js";
import type { Resource } from "./resource.js";
import { setOwn } from "./source-document.js";
import type { Variant } from "./variant.js";
import { responseName, wrapperName } from "./wrapping.js";

/** The forms that messages are written in. */
export type MessageFormat = "json" | "yaml" | "text" | "binary";

/** How a message is to be written. */
export interface WriteOptions {
  /** Where the content of `Any`s is looked up; Envoy's messages by default. */
  readonly registry?: Registry | undefined;
  /** JSON and YAML: whether the message says its type in `"@type"`, as it must in a file of resources. True by default. */
  readonly withType?: boolean | undefined;
  /** JSON and YAML: `lbPolicy` (`json`, the default in JSON) or `lb_policy` (`proto`, the default in YAML, as in Envoy's documentation). */
  readonly fieldNames?: "json" | "proto" | undefined;
  /** JSON: spaces for each level; 0, one line, by default. */
  readonly indent?: number | undefined;
}

/**
 * Writes a message: text in all formats but `binary`. What `readResources` reads of it is equal to what was written.
 * Throws XDSKIT_TYPE_UNKNOWN when the registry lacks its type, or (JSON and YAML) the type of an `Any` in it; XDSKIT_MESSAGE_INVALID when a field holds
 * what the format cannot say, such as a number without end in a `Struct`.
 */
export function writeMessage(message: Message, format: "json" | "yaml" | "text", options?: WriteOptions): string;
export function writeMessage(message: Message, format: "binary", options?: WriteOptions): Uint8Array;
export function writeMessage(message: Message, format: MessageFormat, options?: WriteOptions): string | Uint8Array;
export function writeMessage(message: Message, format: MessageFormat, options: WriteOptions = {}): string | Uint8Array {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaNamed(message.$typeName, registry);
  switch (format) {
    case "binary":
      return attempt(schema, () => toBinary(schema, message));
    case "text":
      return attempt(schema, () => toText(schema, message, { registry }));
    case "json":
      return JSON.stringify(jsonOf(schema, message, registry, options, "json"), undefined, options.indent ?? 0);
    case "yaml":
      // Envoy's reader takes yes, no, on and off for booleans: quotes around everything that means something else to YAML 1.1.
      return stringify(jsonOf(schema, message, registry, options, "proto"), {
        lineWidth: 0,
        aliasDuplicateObjects: false,
        compat: "yaml-1.1",
      });
  }
}

/**
 * Writes resources as one file that `readResources` (and Envoy) reads: a `DiscoveryResponse`. A resource with aliases, a TTL, or another name than the
 * one that it carries is wrapped. Throws as `writeMessage` does.
 */
export function writeResources(
  resources: Iterable<Resource>,
  format: MessageFormat,
  options: Omit<WriteOptions, "withType"> & { readonly version?: string | undefined } = {},
): string | Uint8Array {
  const registry = options.registry ?? envoyRegistry();
  const fields = {
    versionInfo: options.version ?? "",
    resources: Array.from(resources, (resource) => inAny(resource, registry)),
  };
  const response = create(schemaNamed(responseName, registry), fields as Record<string, unknown>);
  return writeMessage(response, format, { ...options, withType: false });
}

function inAny(resource: Resource, registry: Registry): Any {
  const { type, name, body, aliases, ttl, variant } = resource;
  const bare = create(AnySchema, { typeUrl: type.typeUrl, value: body });
  if (aliases.length === 0 && ttl === undefined && variant === undefined && ownName(resource, registry) === name)
    return bare;
  const schema = schemaNamed(wrapperName, registry);
  const wrapper = create(schema, {
    ...(variant === undefined ? { name } : { resourceName: resourceName(name, variant, registry) }),
    aliases: [...aliases],
    resource: bare,
    ttl: ttl === undefined ? undefined : durationOf(ttl),
  } as Record<string, unknown>);
  return anyPack(schema, wrapper);
}

function resourceName(name: string, { body }: Variant, registry: Registry): Message {
  const schema = schemaNamed("envoy.service.discovery.v3.ResourceName", registry);
  const constraints = fromBinary(schemaNamed("envoy.service.discovery.v3.DynamicParameterConstraints", registry), body);
  return create(schema, { name, dynamicParameterConstraints: constraints } as Record<string, unknown>);
}

function ownName({ type, body }: Resource, registry: Registry): string | undefined {
  return type.nameOf(fromBinary(schemaNamed(type.typeUrl.slice(type.typeUrl.lastIndexOf("/") + 1), registry), body));
}

function durationOf(millis: number): Duration {
  const seconds = Math.trunc(millis / 1000);
  return create(DurationSchema, { seconds: BigInt(seconds), nanos: Math.round((millis - seconds * 1000) * 1e6) });
}

function jsonOf(
  schema: DescMessage,
  message: Message,
  registry: Registry,
  options: WriteOptions,
  names: "json" | "proto",
): JsonValue {
  const writing = { registry, useProtoFieldName: (options.fieldNames ?? names) === "proto" };
  const json = attempt(schema, () =>
    // As the content of an `Any` a message says its type.
    options.withType === false
      ? toJson(schema, message, writing)
      : toJson(AnySchema, anyPack(schema, message), writing),
  );
  return typeFirst(json);
}

/** An `Any` as one line of JSON: the fields of what it holds, behind its `"@type"`. Throws as `writeMessage` does. */
export function writeAny(any: Any, registry: Registry): string {
  return JSON.stringify(typeFirst(attempt(AnySchema, () => toJson(AnySchema, any, { registry }))));
}

/** The same value with `"@type"` before the fields that it explains. */
export function typeFirst(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(typeFirst);
  if (typeof json !== "object" || json === null) return json;
  const { "@type": type } = json;
  const ordered: JsonObject = type === undefined ? {} : { "@type": type };
  for (const [key, value] of Object.entries(json)) setOwn(ordered, key, typeFirst(value));
  return ordered;
}

function schemaNamed(typeName: string, registry: Registry): DescMessage {
  const schema = schemaOf(typeName, registry);
  if (schema === undefined)
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type: typeName });
  return schema;
}

function attempt<Result>(schema: Pick<DescMessage, "typeName">, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const unknown = /not in the type registry/.test(reason);
    throw XdskitError.of(
      unknown ? "XDSKIT_TYPE_UNKNOWN" : "XDSKIT_MESSAGE_INVALID",
      `cannot be written: ${reason}`,
      { type: schema.typeName },
      { cause },
    );
  }
}
