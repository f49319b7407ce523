import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { XdskitError } from "../errors/errors.js";
import type { ResourceName } from "../names/identifiers.js";
import { redacted } from "../redact/secret-text.js";
import { envoyRegistry } from "../registry/registry.js";
import type { Resource } from "../resources/resource.js";
import { readBody } from "../resources/resource-body.js";
import { type ReadableJsonOptions, readableJson } from "./readable-json.js";

/** A resource's message for people, without secrets. */
export interface ShownBody {
  readonly json: JsonObject;
  /** The name that the message says. */
  readonly name: ResourceName | undefined;
}

/** How to show it. */
export type ShownBodyOptions = Pick<ReadableJsonOptions, "registry" | "fieldNames">;

/** Shows a resource's message; undefined if it cannot be read, or JSON cannot express it. */
export function shownBody(
  { type, body }: Pick<Resource, "type" | "body">,
  options: ShownBodyOptions = {},
): ShownBody | undefined {
  const registry = options.registry ?? envoyRegistry();
  let message: Message;
  try {
    message = readBody(type, type.typeUrl, body, registry);
  } catch {
    return undefined;
  }
  // Of an unknown type there are only bytes, which may hold secrets.
  if (isAny(message)) return { json: { "@type": message.typeUrl, "@value": redacted }, name: undefined };
  try {
    const name = type.anyContent ? undefined : type.nameOf(message);
    return { json: readableJson(message, { ...options, registry }), name };
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    return undefined;
  }
}

function isAny(message: Message): message is Any {
  return message.$typeName === "google.protobuf.Any";
}
