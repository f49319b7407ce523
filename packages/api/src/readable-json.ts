import { type JsonObject, type JsonValue, type Message, type Registry, toJson } from "@bufbuild/protobuf";
import { createUnpack, schemaOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { typeUrlPrefix } from "./identifiers.js";
import { opaqueSchema } from "./opaque-types.js";
import { redactMessage } from "./redact/redact.js";
import { envoyRegistry } from "./registry.js";
import { setOwn } from "./source-document.js";
import { typeFirst } from "./write-message.js";

/** How a message is shown. */
export interface ReadableJsonOptions {
  /** Where messages are looked up; Envoy's by default. */
  readonly registry?: Registry | undefined;
  /** Whether secrets are shown as they are. Default false. */
  readonly secrets?: boolean | undefined;
  /** `lbPolicy` (`json`, the default) or `lb_policy` (`proto`). */
  readonly fieldNames?: "json" | "proto" | undefined;
  /** Called where something of the message is not shown since it is, or may be, a secret: the JSON is no configuration then. */
  readonly leftOut?: (() => void) | undefined;
}

/**
 * A message as proto3 JSON with its `"@type"`, for people: without secrets, and whatever is in it. Where the registry lacks the type of an `Any`, nothing but its
 * `"@type"` is shown; so it is, too, where its bytes cannot be read. Throws XDSKIT_TYPE_UNKNOWN for a message that is not known itself,
 * XDSKIT_MESSAGE_INVALID for what JSON cannot say, such as a number without end in a `Struct`.
 */
export function readableJson(message: Message, options: ReadableJsonOptions = {}): JsonObject {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaOf(message.$typeName, registry);
  const type = message.$typeName;
  if (schema === undefined)
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type });
  const writing = { registry: lenient(registry), useProtoFieldName: options.fieldNames === "proto" };
  const write = (shown: Message) => withType(type, toJson(schema, shown, writing));
  const redacted = () => {
    const shown = redactMessage(schema, message, createUnpack(registry));
    if (shown !== message) options.leftOut?.();
    return shown;
  };
  try {
    return options.secrets ? write(message) : write(redacted());
  } catch (cause) {
    try {
      // Without secrets it is also without what cannot be read.
      if (options.secrets) return write(redacted());
    } catch {}
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `cannot be written: ${reason}`, { type }, { cause });
  }
}

function withType(typeName: string, json: JsonValue): JsonObject {
  const fields = typeof json === "object" && json !== null && !Array.isArray(json) ? json : { value: json };
  const result: JsonObject = { "@type": `${typeUrlPrefix}${typeName}` };
  for (const [key, value] of Object.entries(fields)) setOwn(result, key, typeFirst(value));
  return result;
}

/** Knows every message: those that it does not have are without fields. */
function lenient(registry: Registry): Registry {
  return {
    kind: "registry",
    [Symbol.iterator]: () => registry[Symbol.iterator](),
    get: (name) => registry.get(name),
    getMessage: (name) => schemaOf(name, registry) ?? opaqueSchema(name),
    getEnum: (name) => registry.getEnum(name),
    getExtension: (name) => registry.getExtension(name),
    getExtensionFor: (message, no) => registry.getExtensionFor(message, no),
    getService: (name) => registry.getService(name),
  };
}
