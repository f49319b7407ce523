import { create, type DescMessage, fromBinary, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema, anyPack, type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";
import { schemaOf, typeNameOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { typeUrlPrefix } from "./identifiers.js";
import { envoyRegistry, type Registry } from "./registry.js";
import type { Resource } from "./resource.js";
import {
  binaryForm,
  contentJson,
  type KeptAsBytes,
  messageJson,
  typedJson,
  type WrittenJson,
} from "./unknown/json-writer.js";
import { writeText } from "./unknown/write-text.js";
import type { Variant } from "./variant.js";
import { responseName, wrapperName } from "./wrapping.js";
import { writeYaml } from "./yaml-text.js";

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
  /** JSON and YAML: called with what is there in base64 only, since the registry does not know it, where there is anything. */
  readonly kept?: ((kept: readonly KeptAsBytes[]) => void) | undefined;
}

/**
 * Writes a message: text in all formats but `binary`. What `readResources` reads of it is equal to what was written, also what the registry does not know: in JSON and YAML
 * it is there in base64, in text it is the bytes of an `Any`. Throws XDSKIT_TYPE_UNKNOWN when the registry lacks the message's type; without `"@type"`
 * XDSKIT_MESSAGE_INVALID when a field holds what the format cannot say, such as a number without end in a `Struct`.
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
      return attempt(schema, () => writeText(schema, message, registry));
    case "json":
      return JSON.stringify(jsonOf(schema, message, registry, options, "json"), undefined, options.indent ?? 0);
    case "yaml":
      return writeYaml(jsonOf(schema, message, registry, options, "proto"));
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
  const schema = schemaNamed(responseName, registry);
  const response = (fields: { readonly versionInfo?: string; readonly resources?: readonly Any[] }) =>
    writeMessage(create(schema, fields as Record<string, unknown>), format, { ...options, withType: false });
  const versionInfo = options.version ?? "";
  const anys = Array.from(resources, (resource) => inAny(resource, registry));
  if (format !== "text") return response({ versionInfo, resources: anys });
  // One by one, since what one has of a type says how that type is written.
  return [response({ versionInfo }), ...anys.map((any) => response({ resources: [any] }))].join("");
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
  const { json, kept } =
    options.withType === false
      ? attempt(schema, () => messageJson(schema, message, writing))
      : typedOrBinary(schema, message, writing);
  if (kept.length > 0) options.kept?.(kept);
  return json;
}

/** As the content of an `Any` a message says its type, and may be bytes where JSON cannot say it. */
function typedOrBinary(
  schema: DescMessage,
  message: Message,
  writing: { readonly registry: Registry; readonly useProtoFieldName: boolean },
): WrittenJson {
  const typeUrl = `${typeUrlPrefix}${schema.typeName}`;
  try {
    return typedJson(typeUrl, schema, message, writing);
  } catch {
    const value = attempt(schema, () => toBinary(schema, message));
    return { json: binaryForm({ typeUrl, value }), kept: [{ steps: [], what: "all of it" }], hidden: false };
  }
}

/**
 * An `Any` as one line of JSON: the fields of what it holds, behind its `"@type"`. Throws XDSKIT_TYPE_UNKNOWN where the registry lacks its type, and XDSKIT_MESSAGE_INVALID
 * where JSON cannot say it. `kept`: as in `WriteOptions`.
 */
export function writeAny(any: Any, registry: Registry, kept?: WriteOptions["kept"]): string {
  const schema = registry.getMessage(typeNameOf(any.typeUrl));
  const type = { typeName: any.typeUrl };
  if (schema === undefined) throw typeUnknown(any.typeUrl);
  const written = attempt(type, () =>
    contentJson(any.typeUrl, schema, fromBinary(schema, any.value), { registry, useProtoFieldName: false }),
  );
  if (written.kept.length > 0) kept?.(written.kept);
  return JSON.stringify(written.json);
}

function schemaNamed(typeName: string, registry: Registry): DescMessage {
  const schema = schemaOf(typeName, registry);
  if (schema === undefined) throw typeUnknown(typeName);
  return schema;
}

function typeUnknown(type: string): XdskitError {
  return XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type });
}

function attempt<Result>(schema: Pick<DescMessage, "typeName">, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw XdskitError.of(
      "XDSKIT_MESSAGE_INVALID",
      `cannot be written: ${reason}`,
      { type: schema.typeName },
      { cause },
    );
  }
}
