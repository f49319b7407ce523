import { type JsonObject, type Message, type Registry, toBinary } from "@bufbuild/protobuf";
import { schemaOf } from "./any.js";
import { XdskitError } from "./errors.js";
import { typeUrlPrefix } from "./identifiers.js";
import { envoyRegistry } from "./registry.js";
import { binaryForm, type KeptAsBytes, typedJson } from "./unknown/json-writer.js";

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
  /** Called with what is there in base64 only, since the registry does not know it, or JSON cannot say it; where it is hidden, too. */
  readonly kept?: ((kept: readonly KeptAsBytes[]) => void) | undefined;
}

/**
 * A message as proto3 JSON with its `"@type"`, for people: without secrets, and without what may be one, since nobody knows what is in it: the content of an `Any` that the
 * registry lacks, and unknown fields, are `[redacted]`. With `secrets` these are there in base64, and `readResources` reads all of it. Throws XDSKIT_TYPE_UNKNOWN for a message that is not
 * known itself, XDSKIT_MESSAGE_INVALID for what JSON cannot say, such as a number without end in a `Struct`; with `secrets` that is in base64 as a whole.
 */
export function readableJson(message: Message, options: ReadableJsonOptions = {}): JsonObject {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaOf(message.$typeName, registry);
  const type = message.$typeName;
  if (schema === undefined)
    throw XdskitError.of("XDSKIT_TYPE_UNKNOWN", "messages of this type are not known", { type });
  const typeUrl = `${typeUrlPrefix}${type}`;
  const hide = !options.secrets;
  try {
    const writing = { registry, useProtoFieldName: options.fieldNames === "proto", hide };
    const { json, hidden, kept } = typedJson(typeUrl, schema, message, writing);
    if (hidden) options.leftOut?.();
    if (kept.length > 0) options.kept?.(kept);
    return json as JsonObject;
  } catch (cause) {
    if (!hide) {
      options.kept?.([{ steps: [], what: "all of it" }]);
      return binaryForm({ typeUrl, value: toBinary(schema, message) });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw XdskitError.of("XDSKIT_MESSAGE_INVALID", `cannot be written: ${reason}`, { type }, { cause });
  }
}
