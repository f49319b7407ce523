import { type JsonObject, type Message, toBinary } from "@bufbuild/protobuf";
import { typeUrlPrefix } from "../names/identifiers.js";
import { envoyRegistry } from "../registry/registry.js";
import { binaryForm, type KeptAsBytes, typedJson } from "../unknown/json-writer.js";
import { schemaNamed } from "./wrapped-resource.js";
import type { WriteOptions } from "./write-message.js";
import { cannotWrite } from "./write-message.js";

/** How to show a message. */
export interface ReadableJsonOptions extends Pick<WriteOptions, "registry" | "fieldNames"> {
  /** Whether to show secrets. Default: false. */
  readonly secrets?: boolean | undefined;
  /**
   * Called if a part is not shown because it is, or may be, a secret: the JSON cannot be used as configuration then.
   */
  readonly leftOut?: (() => void) | undefined;
  /**
   * Called with the parts that are only in base64, since the registry does not know them or JSON cannot express them;
   * even if they are hidden.
   */
  readonly kept?: ((kept: readonly KeptAsBytes[]) => void) | undefined;
}

/**
 * A message as proto3 JSON with its `"@type"`, for people. Secrets are `[redacted]`, and so is everything that may be
 * one: unknown fields and the content of an `Any` of an unknown type. With `secrets` these are in base64, and
 * `readResources` reads all of it. Throws XDSKIT_TYPE_UNKNOWN if the message's type is unknown, and
 * XDSKIT_MESSAGE_INVALID if JSON cannot express it, such as an infinite number in a `Struct`; with `secrets` such a
 * message is in base64 as a whole.
 */
export function readableJson(message: Message, options: ReadableJsonOptions = {}): JsonObject {
  const registry = options.registry ?? envoyRegistry();
  const schema = schemaNamed(message.$typeName, registry);
  const typeUrl = `${typeUrlPrefix}${message.$typeName}`;
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
    throw cannotWrite(message.$typeName, cause);
  }
}
