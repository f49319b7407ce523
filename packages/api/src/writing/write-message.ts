import { create, type DescMessage, fromBinary, type JsonValue, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import { messageOf } from "../errors/findings.js";
import { typeNameOf, typeUrlPrefix } from "../names/identifiers.js";
import { envoyRegistry, type Registry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import { responseName, wrapperName } from "../resources/wrapping.js";
import {
  binaryForm,
  contentJson,
  type KeptAsBytes,
  messageJson,
  typedJson,
  type WrittenJson,
} from "../unknown/json-writer.js";
import { writeYaml } from "../yaml/yaml-text.js";
import { stringifyJson } from "./stringify-json.js";
import { schemaNamed, typeUnknown, wrapResource } from "./wrapped-resource.js";
import { writeText } from "./write-text.js";

/** The formats of messages. */
export type MessageFormat = "json" | "yaml" | "text" | "binary";

/** How to write a message. */
export interface WriteOptions {
  /** Resolves the content of `Any`s. Default: Envoy's messages. */
  readonly registry?: Registry | undefined;
  /** JSON and YAML: whether the message has its type in `"@type"`, as it must in a file of resources. Default: true. */
  readonly withType?: boolean | undefined;
  /**
   * JSON and YAML: `lbPolicy` (`json`, the default in JSON) or `lb_policy` (`proto`, the default in YAML, as in Envoy's
   * documentation).
   */
  readonly fieldNames?: "json" | "proto" | undefined;
  /** JSON: spaces per level. Default: 0, everything on one line. */
  readonly indent?: number | undefined;
  /**
   * JSON and YAML: called with the parts that are only in base64, since the registry does not know them, if there are
   * any.
   */
  readonly kept?: ((kept: readonly KeptAsBytes[]) => void) | undefined;
}

/**
 * Writes a message: as text in all formats but `binary`. `readResources` reads an equal message back, including parts
 * that the registry does not know: JSON and YAML have them in base64, and text has the bytes of an `Any`. Throws
 * XDSKIT_TYPE_UNKNOWN if the registry lacks the message's type; without `"@type"` XDSKIT_MESSAGE_INVALID if the format
 * cannot express a value, such as an infinite number in a `Struct`.
 *
 * @example
 * ```ts
 * import { writeMessage } from "@xdskit/api";
 * import { edsCluster } from "@xdskit/api/builders";
 *
 * console.log(writeMessage(edsCluster({ name: "web" }), "yaml"));
 * ```
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
      return stringifyJson(jsonOf(schema, message, registry, options, "json"), options.indent);
    case "yaml":
      return writeYaml(jsonOf(schema, message, registry, options, "proto"));
  }
}

/**
 * Writes resources as one file that `readResources` and Envoy can read: a `DiscoveryResponse`. A resource is wrapped if
 * it has aliases, a TTL, or a name that differs from its own. Throws as `writeMessage` does.
 *
 * @example
 * ```ts
 * import { resourcesFrom, writeResources } from "@xdskit/api";
 *
 * const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
 * const [text] = [writeResources(resourcesFrom({ "@type": type, name: "web" }), "yaml")];
 * ```
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
  // One by one, since each resource decides how `Any`s of its types are written.
  return [response({ versionInfo }), ...anys.map((any) => response({ resources: [any] }))].join("");
}

function inAny(resource: Resource, registry: Registry): Any {
  const { type, name, body, aliases, ttl, variant } = resource;
  if (aliases.length === 0 && ttl === undefined && variant === undefined && ownName(resource, registry) === name)
    return create(AnySchema, { typeUrl: type.typeUrl, value: body });
  return create(AnySchema, { typeUrl: `${typeUrlPrefix}${wrapperName}`, value: wrapResource(resource, registry) });
}

function ownName({ type, body }: Resource, registry: Registry): string | undefined {
  return type.nameOf(fromBinary(schemaNamed(typeNameOf(type.typeUrl), registry), body));
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

/** The content of an `Any` has its type, and may be bytes if JSON cannot express it. */
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
 * An `Any` as one line of JSON: `"@type"` and the fields of its content. Throws XDSKIT_TYPE_UNKNOWN if the registry
 * lacks its type, and XDSKIT_MESSAGE_INVALID if JSON cannot express it. `kept`: see `WriteOptions`.
 */
export function writeAny(any: Any, registry: Registry, kept?: WriteOptions["kept"]): string {
  const schema = registry.getMessage(typeNameOf(any.typeUrl));
  const type = { typeName: any.typeUrl };
  if (schema === undefined) throw typeUnknown(any.typeUrl);
  const written = attempt(type, () =>
    contentJson(any.typeUrl, schema, fromBinary(schema, any.value), { registry, useProtoFieldName: false }),
  );
  if (written.kept.length > 0) kept?.(written.kept);
  return stringifyJson(written.json);
}

function attempt<Result>(schema: Pick<DescMessage, "typeName">, write: () => Result): Result {
  try {
    return write();
  } catch (cause) {
    throw cannotWrite(schema.typeName, cause);
  }
}

/** The error for a message that cannot be written in a format. */
export function cannotWrite(type: string, cause: unknown): XdskitError {
  const reason = messageOf(cause);
  return XdskitError.of("XDSKIT_MESSAGE_INVALID", `cannot be written: ${reason}`, { type }, { cause });
}
